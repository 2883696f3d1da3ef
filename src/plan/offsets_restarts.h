#pragma once

#include <cstdint>
#include <vector>

#include "plan/offsets_search.h"

namespace plimsoll::plan {

/// Runs the tree search again and again on one problem: in each round each of five orders (by length, by fullest
/// section with ties by area or by length, by size, by area) gets twice the nodes of the round before, and between them
/// come short runs with shuffled orders. Hard problems are lost or won by the first few decisions, so many short tries
/// beat one long one.
class RestartedSearch {
 public:
  RestartedSearch(const Boxes& boxes, const OffsetTechniques& techniques);

  /// Tries to pack within `capacity` in at most `node_limit` nodes and until `deadline` (monotonic_seconds()).
  SearchOutcome run(int64_t capacity, int64_t node_limit, double deadline);

  /// Offsets by box, valid after kSolved.
  const std::vector<int64_t>& offsets() const { return search_.offsets(); }
  /// Nodes of all runs so far.
  int64_t nodes() const { return nodes_; }

 private:
  SearchOutcome run_once(int64_t capacity, std::vector<double> keys, double shuffle, int64_t nodes, double deadline);

  const Boxes& boxes_;
  OffsetSearch search_;
  std::vector<std::vector<double>> keys_;
  int64_t nodes_ = 0;
  uint64_t shuffles_ = 0;
};

}  // namespace plimsoll::plan
