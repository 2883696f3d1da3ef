#include "plan/offsets_restarts.h"

#include <algorithm>

#include "core/philox.h"
#include "plan/offsets_greedy.h"

namespace plimsoll::plan {
namespace {

// Measured on the problems A to F of MiniMalloc: shorter first rounds lose A and D, longer ones make E slower.
constexpr int64_t kFirstRoundNodes = 1000;
constexpr int64_t kShuffledNodes = 400;
constexpr double kShuffle = 0.3;

}  // namespace

RestartedSearch::RestartedSearch(const Boxes& boxes, const OffsetTechniques& techniques)
    : boxes_(boxes), search_(boxes, techniques) {
  // Boxes of the fullest sections first; among those of one section the large or the long ones.
  const std::vector<double> load = order_keys(boxes, BoxOrder::kLoad);
  const std::vector<double> area = order_keys(boxes, BoxOrder::kArea);
  const std::vector<double> length = order_keys(boxes, BoxOrder::kLength);
  const double most_area = *std::max_element(area.begin(), area.end());
  const double most_length = *std::max_element(length.begin(), length.end());
  const auto with_ties = [&](const std::vector<double>& ties, double most) {
    std::vector<double> keys = load;
    for (size_t i = 0; i < keys.size(); ++i) keys[i] *= 1 + 1e-6 * ties[i] / most;
    return keys;
  };
  keys_ = {length, with_ties(area, most_area), with_ties(length, most_length), order_keys(boxes, BoxOrder::kSize),
           area};
}

SearchOutcome RestartedSearch::run(int64_t capacity, int64_t node_limit, double deadline) {
  const int64_t end = nodes_ + node_limit;
  const auto is_over = [&] { return nodes_ >= end || monotonic_seconds() > deadline; };
  const int64_t first = std::max(kFirstRoundNodes, 2 * int64_t{boxes_.count()});
  const int64_t shuffled = std::max(kShuffledNodes, 2 * int64_t{boxes_.count()});
  for (int64_t round_nodes = first; !is_over(); round_nodes *= 2) {
    for (const std::vector<double>& keys : keys_) {
      SearchOutcome outcome = run_once(capacity, keys, 0, std::min(round_nodes, end - nodes_), deadline);
      if (outcome != SearchOutcome::kLimit) return outcome;
      const int64_t shuffles_end = std::min(end, nodes_ + round_nodes / 2);
      while (!is_over() && nodes_ < shuffles_end) {
        outcome = run_once(capacity, keys, kShuffle, std::min(shuffled, shuffles_end - nodes_), deadline);
        if (outcome != SearchOutcome::kLimit) return outcome;
      }
      if (is_over()) return SearchOutcome::kLimit;
    }
  }
  return SearchOutcome::kLimit;
}

SearchOutcome RestartedSearch::run_once(int64_t capacity, std::vector<double> keys, double shuffle, int64_t nodes,
                                        double deadline) {
  if (shuffle > 0) {
    const Philox random(1);
    ++shuffles_;
    for (size_t i = 0; i < keys.size(); ++i) {
      keys[i] *= 1 + shuffle * (to_unit_float(random(i, shuffles_)[0]) - 0.5);
    }
  }
  const std::vector<int32_t> order = sort_by_keys(keys);
  std::vector<int32_t> rank(order.size());
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<int32_t>(i);
  const SearchOutcome outcome = search_.run(capacity, rank, nodes, deadline);
  nodes_ += search_.nodes();
  return outcome;
}

}  // namespace plimsoll::plan
