#pragma once

#include <map>

#include "graph/graph.h"
#include "ops/op_def.h"

namespace plimsoll::ops {

/// All ops by name. Made once at start by `make_op_table`, then only read.
class OpTable {
 public:
  void add(OpDef def);

  /// The op of that name, or nullptr.
  const OpDef* find(std::string_view name) const;
  /// Requires: the op exists.
  const OpDef& at(std::string_view name) const;

  auto begin() const { return defs_.begin(); }
  auto end() const { return defs_.end(); }

  /// Fills in defaults and checks names, types and allowed values.
  Result<Attributes> complete(const OpDef& def, const Attributes& given) const;

  /// The outputs' descriptions of `op` applied to `srcs`. Errors: invalid_argument of the form "[op] what, given, what
  /// to do".
  Result<std::vector<TensorDesc>> infer(const OpDef& def, std::span<const TensorDesc> srcs,
                                        const Attributes& complete_attributes) const;

 private:
  std::map<std::string, OpDef, std::less<>> defs_;
};

/// The table with every op of this folder; the list of calls is generated from the file names.
OpTable make_op_table();

/// The call that a node makes, as views into `storage`.
class NodeCall {
 public:
  NodeCall(const graph::Graph& graph, const graph::Node& node);
  OpCall call() const { return {srcs_, dsts_, attributes_}; }
  std::span<const TensorDesc> srcs() const { return srcs_; }
  std::span<const TensorDesc> dsts() const { return dsts_; }

 private:
  std::vector<TensorDesc> srcs_;
  std::vector<TensorDesc> dsts_;
  const Attributes& attributes_;
};

/// Bytes of all inputs and outputs, each once.
int64_t moved_bytes(const OpCall& call);

/// Cost of a call: the op's own rule, or none and every byte once.
Cost cost_of(const OpDef& def, const OpCall& call);

}  // namespace plimsoll::ops
