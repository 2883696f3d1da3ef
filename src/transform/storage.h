#pragma once

#include <functional>
#include <vector>

#include "graph/graph.h"
#include "ops/op_table.h"

namespace plimsoll::transform {

/// Which values share memory: the outcome of views, in-place ops, accumulators and state updates.
struct Storage {
  /// Where a value's bytes are.
  struct Slot {
    int buffer = -1;
    int64_t offset_bytes = 0;
    friend bool operator==(const Slot&, const Slot&) = default;
  };
  std::vector<Slot> slots;             ///< by value
  std::vector<int> versions;           ///< by value: how often its buffer had been written when it was made
  std::vector<graph::ValueId> owners;  ///< by buffer: the value that it was made for
  std::vector<int64_t> buffer_bytes;   ///< by buffer
  std::vector<bool> is_view;           ///< by node: all outputs are views, so no kernel runs
};

struct StorageOptions {
  bool in_place = true;  ///< off: every output that may have its own buffer has one (tests compare both)
  /// Values that live beyond their microbatch: their first writer gets a buffer of its own.
  std::function<bool(graph::ValueId)> is_carried = [](graph::ValueId) { return false; };
};

/// Decides what shares memory, in the graph's order. An output overwrites an input in place only where the op's alias
/// rule allows, the input is no leaf, and nobody reads any part of its buffer later.
///
/// Errors: invalid_argument where a state is read after the node that updates it.
Result<Storage> assign_storage(const graph::Graph& graph, const ops::OpTable& ops, const StorageOptions& options = {});

}  // namespace plimsoll::transform
