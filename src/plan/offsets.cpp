#include "plan/offsets.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "plan/offsets_boxes.h"
#include "plan/offsets_core.h"
#include "plan/offsets_greedy.h"
#include "plan/offsets_restarts.h"

namespace plimsoll::plan {
namespace {

// From the first number on the core is packed first (offsets_core.h): a node of the tree search costs more the more
// boxes there are. Above the second one the whole problem is not searched at all.
constexpr int kLeastCoreBoxes = 1000;
constexpr int kMostSearchedBoxes = 5000;
// A node's cost grows with the boxes and with the sections each is alive in.
constexpr int64_t kEffortBoxes = 256;
constexpr int kMostLocalRounds = 300;
constexpr int64_t kLocalComparisons = 40'000'000;
constexpr int kBisections = 8;

Error invalid_buffer(size_t index, const std::string& what) {
  return invalid_argument("[offsets] buffer " + std::to_string(index) + " " + what);
}

Status check_problem(const OffsetProblem& problem) {
  int64_t room = std::numeric_limits<int64_t>::max() / 8;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Interval& buffer = problem.buffers[i];
    if (buffer.lower >= buffer.upper) {
      return invalid_buffer(i, "has lifetime [" + std::to_string(buffer.lower) + ", " + std::to_string(buffer.upper) +
                                   "); the end must be after the start");
    }
    if (buffer.size < 0) return invalid_buffer(i, "has size " + std::to_string(buffer.size) + "; expected 0 or more");
    if (buffer.alignment < 1) {
      return invalid_buffer(i, "has alignment " + std::to_string(buffer.alignment) + "; expected 1 or more");
    }
    if (buffer.size > room || buffer.alignment > room - buffer.size) {
      return invalid_buffer(i, "makes the sizes sum to more than 2^60 bytes");
    }
    room -= buffer.size + buffer.alignment - 1;
  }
  return {};
}

// If every alignment divides every size, all offsets are multiples of the sizes' common divisor, and so is the height.
int64_t height_unit(const Boxes& boxes) {
  int64_t unit = 0;
  for (const Box& box : boxes.boxes) unit = std::gcd(unit, box.size);
  for (const Box& box : boxes.boxes) {
    if (unit % box.alignment != 0) return 1;
  }
  return std::max<int64_t>(unit, 1);
}

int64_t node_limit(int64_t effort, int boxes) {
  const int64_t count = std::max<int64_t>(boxes, kEffortBoxes);
  const auto scaled = static_cast<int64_t>(static_cast<double>(effort) * kEffortBoxes * kEffortBoxes /
                                           (static_cast<double>(count) * static_cast<double>(count)));
  return std::max(std::min(effort, 4 * count), scaled);
}

// Lowers a packing of `boxes` technique by technique until it meets the target.
class Portfolio {
 public:
  Portfolio(const Boxes& boxes, const OffsetOptions& options, int64_t target, double deadline)
      : boxes_(boxes), options_(options), lowest_(boxes.max_load()), target_(target), deadline_(deadline) {}

  void run() {
    const OffsetTechniques& techniques = options_.techniques;
    if (techniques.stack) {
      if (auto packing = try_stack(boxes_)) keep(*packing);
    }
    // Something must always give a first packing, so greedy switched off means its first order only.
    if (!is_done()) keep(pack_greedily(boxes_, techniques.greedy ? target_ : std::numeric_limits<int64_t>::max()));
    if (!is_done() && techniques.local_search) improve();
    if (!is_done() && techniques.tree_search) search();
  }

  const Packing& best() const { return best_; }
  int64_t nodes() const { return nodes_; }
  /// No packing is lower than this.
  int64_t lowest() const { return lowest_; }

 private:
  bool is_done() const { return best_.height <= std::max(target_, lowest_); }

  void keep(Packing packing) {
    if (packing.height < best_.height) best_ = std::move(packing);
  }

  void improve() {
    const int64_t n = boxes_.count();
    const int rounds = static_cast<int>(std::min<int64_t>(kMostLocalRounds, kLocalComparisons / (n * n)));
    keep(improve_order(boxes_, target_, rounds, deadline_));
  }

  void search() {
    if (boxes_.count() > kLeastCoreBoxes) {
      CoreResult core = pack_core_first(boxes_, target_, options_, deadline_);
      nodes_ += core.nodes;
      keep(std::move(core.packing));
    }
    if (is_done() || boxes_.count() > kMostSearchedBoxes) return;
    const int64_t limit = node_limit(options_.effort, boxes_.count());
    RestartedSearch search(boxes_, options_.techniques);
    attempt(search, target_, options_.capacity ? limit : limit / 2);
    if (!options_.capacity) bisect(search, limit / 2);
    nodes_ += search.nodes();
  }

  void attempt(RestartedSearch& search, int64_t capacity, int64_t limit) {
    const int64_t unit = height_unit(boxes_);
    const SearchOutcome outcome = search.run(capacity - capacity % unit, limit, deadline_);
    if (outcome == SearchOutcome::kImpossible) lowest_ = std::max(lowest_, capacity - capacity % unit + unit);
    if (outcome != SearchOutcome::kSolved) return;
    Packing packing{search.offsets(), 0};
    for (int i = 0; i < boxes_.count(); ++i) {
      packing.height = std::max(packing.height, packing.offsets[i] + boxes_.boxes[i].size);
    }
    keep(std::move(packing));
  }

  // The target was not met: some height between it and the best one.
  void bisect(RestartedSearch& search, int64_t limit) {
    int64_t failed = target_;
    for (int i = 0; i < kBisections && best_.height > std::max(lowest_, failed + 1); ++i) {
      const int64_t middle = std::max(lowest_, failed + (best_.height - failed) / 2);
      attempt(search, middle, limit / kBisections);
      if (best_.height > middle) failed = middle;
    }
  }

  const Boxes& boxes_;
  const OffsetOptions& options_;
  int64_t lowest_;
  int64_t target_;
  double deadline_;
  int64_t nodes_ = 0;
  Packing best_{{}, std::numeric_limits<int64_t>::max()};
};

// Indices of the buffers alive at all times, if they stack without padding and leave the rest aligned; otherwise none.
std::vector<int32_t> whole_step_ids(const Boxes& boxes) {
  std::vector<int32_t> ids;
  int64_t bytes = 0;
  for (const Box& box : boxes.boxes) {
    if (box.first != 0 || box.last != boxes.sections) continue;
    if (bytes % box.alignment != 0) return {};
    bytes += box.size;
    ids.push_back(box.id);
  }
  for (const Box& box : boxes.boxes) {
    if (bytes % box.alignment != 0) return {};
  }
  return ids;
}

Error over_capacity(const OffsetSolution& solution, int64_t capacity, int64_t lowest) {
  const bool is_impossible = lowest > capacity;
  const std::string message =
      "[offsets] capacity " + std::to_string(capacity) + " bytes " +
      (is_impossible
           ? "cannot be met: every packing needs at least " + std::to_string(lowest) + " bytes; the lowest found needs "
           : std::string("was not met within the effort; the lowest packing found needs ")) +
      std::to_string(solution.height);
  Infeasible detail;
  detail.needed_bytes = solution.height;
  detail.budget_bytes = capacity;
  return {ErrorCode::kInfeasible, message, std::make_shared<const Infeasible>(std::move(detail))};
}

std::vector<int32_t> without(std::vector<int32_t> ids, const std::vector<int32_t>& removed, size_t count) {
  std::vector<uint8_t> is_removed(count, 0);
  for (int32_t id : removed) is_removed[id] = 1;
  std::erase_if(ids, [&](int32_t id) { return is_removed[id] != 0; });
  return ids;
}

std::vector<int32_t> ids_with_bytes(const OffsetProblem& problem) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].size > 0) ids.push_back(static_cast<int32_t>(i));
  }
  return ids;
}

}  // namespace

Result<OffsetSolution> try_plan_offsets(const OffsetProblem& problem, const OffsetOptions& options) {
  PLIMSOLL_RETURN_IF_ERROR(check_problem(problem));
  const double deadline = options.seconds ? monotonic_seconds() + *options.seconds : std::numeric_limits<double>::max();
  OffsetSolution solution;
  solution.offsets.assign(problem.buffers.size(), 0);

  std::vector<int32_t> ids = ids_with_bytes(problem);
  Boxes boxes = make_boxes(problem.buffers, ids);
  solution.lower_bound = boxes.max_load();
  int64_t bottom = 0;
  if (options.techniques.split_whole) {
    const std::vector<int32_t> whole = whole_step_ids(boxes);
    for (int32_t id : whole) {
      solution.offsets[id] = bottom;
      bottom += problem.buffers[id].size;
    }
    ids = without(std::move(ids), whole, problem.buffers.size());
    if (!whole.empty()) boxes = make_boxes(problem.buffers, ids);
  }
  solution.height = bottom;
  int64_t lowest = solution.lower_bound;
  if (!ids.empty()) {
    const int64_t target = std::max(options.capacity.value_or(0), solution.lower_bound) - bottom;
    Portfolio portfolio(boxes, options, target, deadline);
    portfolio.run();
    for (int i = 0; i < boxes.count(); ++i) {
      solution.offsets[boxes.boxes[i].id] = bottom + portfolio.best().offsets[i];
    }
    solution.height = bottom + portfolio.best().height;
    solution.nodes = portfolio.nodes();
    lowest = std::max(lowest, bottom + portfolio.lowest());
  }
  solution.proven_least = solution.height <= lowest;
  if (options.capacity && solution.height > *options.capacity) {
    return over_capacity(solution, *options.capacity, lowest);
  }
  return solution;
}

}  // namespace plimsoll::plan
