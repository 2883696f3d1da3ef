#include "plan/recompute.h"

#include <algorithm>
#include <optional>

#include "core/bytes.h"
#include "plan/liveness.h"

namespace plimsoll::plan {
namespace {

using program::Kind;
using program::Role;
using program::When;

/// Flops in the time of one byte: 76 GFLOP/s over 9 GB/s a core on AVX2 (Zen 3), rounded; AVX-512 has more.
constexpr double kFlopsPerByte = 8;
constexpr const char* kReason = "made again, because it was not kept from the forward pass";

/// A maker of `buffer` runs again before the instruction at `position`.
struct Choice {
  int buffer = -1;
  int64_t maker = 0;
  int64_t position = 0;
  int64_t saved_bytes = 0;
  double work = 0;

  bool is_better_than(const Choice& other) const {
    const double here = static_cast<double>(saved_bytes) * other.work;
    const double there = static_cast<double>(other.saved_bytes) * work;
    return here != there ? here > there : maker < other.maker;
  }
};

/// Where one buffer is used.
struct Uses {
  std::vector<int64_t> positions;  ///< ascending
  int writes = 0;
  int64_t maker = -1;  ///< of its only write, if that makes all of it anew
};

class Recomputer {
 public:
  Recomputer(const Problem& problem, const RecomputeOptions& options)
      : problem_(problem), options_(options), lifetimes_(find_lifetimes(problem)), uses_(problem.buffers.size()) {
    collect_instructions();
    is_pinned_.resize(problem.buffers.size());
    for (const ProblemOutput& output : problem.outputs) is_pinned_[static_cast<size_t>(output.use.buffer)] = true;
    for (size_t b = 0; b < lifetimes_.size(); ++b)
      if (!problem.buffers[b].is_state) add_alive(lifetimes_[b], padded_bytes(b));
  }

  /// In the order in which they were taken.
  std::vector<Choice> choose() {
    const int64_t before = peak();
    int64_t least = before;
    std::vector<Choice> taken;
    size_t worthwhile = 0;
    double budget = options_.most_work * total_work_;
    while (const std::optional<Choice> next = best(budget)) {
      budget -= next->work;
      take(*next);
      taken.push_back(*next);
      if (peak() >= least) continue;
      least = peak();
      worthwhile = taken.size();
    }
    const double all = static_cast<double>(state_bytes_ + before);
    if (static_cast<double>(before - least) < options_.least_saving * all) worthwhile = 0;
    taken.resize(worthwhile);
    return taken;
  }

 private:
  void collect_instructions() {
    for (size_t b = 0; b < problem_.buffers.size(); ++b)
      if (problem_.buffers[b].is_state) state_bytes_ += padded_bytes(b);
    for (const ProblemSegment& segment : problem_.segments) {
      for (const ProblemInstruction& instruction : segment.instructions) {
        const auto position = static_cast<int64_t>(instructions_.size());
        instructions_.push_back(&instruction);
        segments_.push_back(&segment);
        alive_.push_back(align_up(instruction.workspace_bytes, kAlignment));
        total_work_ += work_of(instruction) * static_cast<double>(program::count_runs(instruction.when, segment.trips));
        for (const Use& use : instruction.uses) note(use, position);
      }
    }
  }

  void note(const Use& use, int64_t position) {
    Uses& uses = uses_[static_cast<size_t>(use.buffer)];
    if (uses.positions.empty() || uses.positions.back() != position) uses.positions.push_back(position);
    if (use.role == Role::kRead) return;
    const bool is_whole = use.begin_bytes == 0 && use.end_bytes == buffer(use.buffer).size_bytes;
    uses.maker = ++uses.writes == 1 && use.role == Role::kWrite && is_whole ? position : -1;
  }

  const ProblemBuffer& buffer(int index) const { return problem_.buffers[static_cast<size_t>(index)]; }
  int64_t padded_bytes(size_t b) const {
    return align_up(problem_.buffers[b].size_bytes, kAlignment) * problem_.buffers[b].slots;
  }

  void add_alive(const Lifetime& life, int64_t bytes) {
    for (int64_t at = life.first; at < life.last; ++at) alive_[static_cast<size_t>(at)] += bytes;
  }

  int64_t peak() const { return alive_.empty() ? 0 : *std::ranges::max_element(alive_); }

  /// What frees the most bytes at the tightest instruction for its work, within the budget.
  std::optional<Choice> best(double budget) const {
    const int64_t tightest = std::ranges::max_element(alive_) - alive_.begin();
    std::optional<Choice> out;
    for (size_t b = 0; b < problem_.buffers.size(); ++b) {
      const std::optional<Choice> choice = try_choice(static_cast<int>(b), tightest);
      if (choice && choice->work <= budget && (!out || choice->is_better_than(*out))) out = choice;
    }
    return out;
  }

  std::optional<Choice> try_choice(int b, int64_t tightest) const {
    const Uses& uses = uses_[static_cast<size_t>(b)];
    const Lifetime& life = lifetimes_[static_cast<size_t>(b)];
    if (uses.maker < 0 || is_pinned_[static_cast<size_t>(b)] || buffer(b).is_state) return {};
    if (tightest < life.first || tightest >= life.last) return {};
    const auto next = std::ranges::upper_bound(uses.positions, tightest);
    if (next == uses.positions.begin() || next == uses.positions.end() || *std::prev(next) == tightest) return {};
    const int64_t trips = segment_of(uses.maker).trips;
    Choice out{
        .buffer = b, .maker = uses.maker, .position = *next, .saved_bytes = padded_bytes(static_cast<size_t>(b))};
    out.work = work_of(instruction_at(uses.maker)) * static_cast<double>(trips);
    return can_repeat(instruction_at(uses.maker), uses.maker, *next) ? std::optional(out) : std::nullopt;
  }

  const ProblemInstruction& instruction_at(int64_t position) const {
    return *instructions_[static_cast<size_t>(position)];
  }
  const ProblemSegment& segment_of(int64_t position) const { return *segments_[static_cast<size_t>(position)]; }

  /// Whether all that it reads is still there and the same at `position`, and all that it makes is its own.
  bool can_repeat(const ProblemInstruction& instruction, int64_t made, int64_t position) const {
    if (instruction.kind != Kind::kCompute || instruction.when != When::kAlways || !waits_for_memory(instruction) ||
        &segment_of(made) != &segment_of(position))
      return false;
    return std::ranges::all_of(instruction.uses, [&](const Use& use) {
      const auto b = static_cast<size_t>(use.buffer);
      if (use.role != Role::kRead)
        return uses_[b].maker == made && !is_pinned_[b] && buffer(use.buffer).slots == 1 &&
               &segment_of(uses_[b].positions.back()) == &segment_of(made);
      return lifetimes_[b].last > position && !is_written(use, made, position);
    });
  }

  static bool waits_for_memory(const ProblemInstruction& instruction) {
    return instruction.bytes > 0 &&
           static_cast<double>(instruction.flops) <= kFlopsPerByte * static_cast<double>(instruction.bytes);
  }

  /// Between two positions.
  bool is_written(const Use& source, int64_t after, int64_t before) const {
    for (const int64_t at : uses_[static_cast<size_t>(source.buffer)].positions)
      if (after < at && at < before)
        for (const Use& use : instruction_at(at).uses)
          if (use.buffer == source.buffer && use.role != Role::kRead) return true;
    return false;
  }

  void take(const Choice& choice) {
    for (const Use& use : instruction_at(choice.maker).uses) {
      const auto b = static_cast<size_t>(use.buffer);
      is_pinned_[b] = true;  // a source must stay, and nothing is made a third time
      if (use.role == Role::kRead) continue;
      Lifetime& life = lifetimes_[b];
      const auto next = std::ranges::lower_bound(uses_[b].positions, choice.position);
      const int64_t last = *std::prev(next) + 1;
      if (last < life.last) add_alive({last, life.last}, -padded_bytes(b));
      add_alive({choice.position, std::max(life.last, choice.position + 1)}, padded_bytes(b));
      life.last = last;
    }
  }

  const Problem& problem_;
  const RecomputeOptions& options_;
  std::vector<Lifetime> lifetimes_;                      ///< by buffer; of what is kept, once it is made again
  std::vector<Uses> uses_;                               ///< by buffer
  std::vector<bool> is_pinned_;                          ///< by buffer: stays as it is
  std::vector<const ProblemInstruction*> instructions_;  ///< by position
  std::vector<const ProblemSegment*> segments_;          ///< by position
  std::vector<int64_t> alive_;                           ///< bytes, by position
  int64_t state_bytes_ = 0;
  double total_work_ = 0;
};

/// Puts the second runs into the problem.
class Rewriter {
 public:
  Rewriter(Problem& problem, std::vector<Choice> choices) : problem_(problem), choices_(std::move(choices)) {
    std::ranges::stable_sort(choices_, {}, &Choice::position);
    for (size_t b = 0; b < problem.buffers.size(); ++b) now_.push_back(static_cast<int>(b));
  }

  void run() {
    int64_t position = 0;
    auto next = choices_.begin();
    std::vector<ProblemInstruction> makers;
    for (ProblemSegment& segment : problem_.segments) {
      std::vector<ProblemInstruction> order;
      for (ProblemInstruction& instruction : segment.instructions) {
        makers.push_back(instruction);
        for (; next != choices_.end() && next->position == position; ++next)
          order.push_back(make_again(makers[static_cast<size_t>(next->maker)]));
        for (Use& use : instruction.uses) use.buffer = now_[static_cast<size_t>(use.buffer)];
        order.push_back(std::move(instruction));
        ++position;
      }
      segment.instructions = std::move(order);
    }
  }

 private:
  ProblemInstruction make_again(ProblemInstruction instruction) {
    instruction.label += ".again";
    instruction.reason = kReason;
    for (Use& use : instruction.uses) {
      if (use.role == Role::kRead) continue;
      ProblemBuffer copy = problem_.buffers[static_cast<size_t>(use.buffer)];
      copy.same_content_as = use.buffer;
      now_[static_cast<size_t>(use.buffer)] = static_cast<int>(problem_.buffers.size());
      use.buffer = static_cast<int>(problem_.buffers.size());
      problem_.buffers.push_back(std::move(copy));
    }
    return instruction;
  }

  Problem& problem_;
  std::vector<Choice> choices_;
  std::vector<int> now_;  ///< by buffer: which one has its content from here on
};

}  // namespace

double work_of(const ProblemInstruction& instruction) {
  return std::max(static_cast<double>(instruction.bytes), static_cast<double>(instruction.flops) / kFlopsPerByte);
}

Problem recompute(Problem problem, const RecomputeOptions& options) {
  std::vector<Choice> choices = Recomputer(problem, options).choose();
  Rewriter(problem, std::move(choices)).run();
  return problem;
}

}  // namespace plimsoll::plan
