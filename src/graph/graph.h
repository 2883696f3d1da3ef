#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/attributes.h"
#include "core/ids.h"
#include "core/tensor_desc.h"

namespace plimsoll::graph {

using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;

/// Where a value comes from.
enum class ValueKind : uint8_t {
  kInput,      ///< fed anew for every microbatch
  kParameter,  ///< learned; lives across steps
  kState,      ///< lives across steps beside the parameters: moments, running statistics, key/value caches
  kScalar,     ///< a number that the host writes before each step: learning rate, seed, 1 / valid tokens
  kConstant,   ///< known when the graph is made
  kComputed    ///< made by a node
};

/// Which part of the training step a node belongs to. Forward and backward run once a microbatch, update once a step.
enum class Phase : uint8_t { kForward, kBackward, kUpdate };

struct Value {
  std::string name;  ///< unique; the path by which users, checkpoints and counters know it
  TensorDesc desc;
  ValueKind kind = ValueKind::kComputed;
  bool is_trainable = false;    ///< parameters only: gradients are wanted
  NodeId producer;              ///< valid for kComputed only
  int output_index = 0;         ///< which of the producer's outputs this is
  std::vector<double> literal;  ///< kConstant only: all elements, row-major
};

/// One op applied to values.
struct Node {
  std::string op;
  std::string name;  ///< unique; the layer's path
  Phase phase = Phase::kForward;
  Attributes attributes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  /// Outputs that add into a buffer instead of overwriting it. Their accumulators are the last inputs, in this order,
  /// and share the output's storage.
  std::vector<int> accumulated_outputs;

  /// The inputs that the op itself defines, without accumulators.
  size_t operand_count() const { return inputs.size() - accumulated_outputs.size(); }
};

/// At the end of the step the storage of `state` holds `next`.
struct StateUpdate {
  ValueId state;
  ValueId next;
  friend bool operator==(const StateUpdate&, const StateUpdate&) = default;
};

/// The step stops when this scalar is not finite, before anything that comes later in the order.
struct FiniteCheck {
  ValueId value;
  std::string what;  ///< what a message calls it, e.g. "loss"
  friend bool operator==(const FiniteCheck&, const FiniteCheck&) = default;
};

struct Output {
  std::string name;
  ValueId value;
  friend bool operator==(const Output&, const Output&) = default;
};

/// What a node's output is called: "name", "name:1", "name:2", …
std::string output_name(const std::string& node, int index);

/// A list of nodes in execution order over single-assignment values.
///
/// The order of nodes is part of the graph: it fixes in which order gradients add up, so that results do not depend on
/// what a planner does later.
class Graph {
 public:
  Graph() : Graph("graph") {}
  explicit Graph(std::string name) : name_(std::move(name)) {}
  /// A graph of these parts, whose ids count values and nodes from 0. Requires: it verifies, or is given up.
  Graph(std::string name, std::vector<Value> values, std::vector<Node> nodes);

  const std::string& name() const { return name_; }

  ValueId add_leaf(ValueKind kind, std::string name, TensorDesc desc, bool is_trainable = false);
  /// Requires: literal has desc.numel() elements.
  ValueId add_constant(std::string name, TensorDesc desc, std::vector<double> literal);
  /// Appends a node whose outputs have these descriptions; outputs are named by output_name.
  /// Requires: no node and no value has such a name.
  NodeId add_node(Node node, std::span<const TensorDesc> output_descs);
  /// Gives an existing node further outputs.
  std::vector<ValueId> add_outputs(NodeId node, std::span<const TensorDesc> output_descs);

  void add_output(std::string name, ValueId value) { outputs_.push_back({std::move(name), value}); }
  void add_update(ValueId state, ValueId next) { updates_.push_back({state, next}); }
  void add_check(ValueId value, std::string what) { checks_.push_back({value, std::move(what)}); }

  const Value& value(ValueId id) const { return values_[id.index()]; }
  Value& value(ValueId id) { return values_[id.index()]; }
  const Node& node(NodeId id) const { return nodes_[id.index()]; }
  Node& node(NodeId id) { return nodes_[id.index()]; }
  std::span<const Value> values() const { return values_; }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Output> outputs() const { return outputs_; }
  std::span<const StateUpdate> updates() const { return updates_; }
  std::span<const FiniteCheck> checks() const { return checks_; }

  /// The value of that name, or an invalid id.
  ValueId find_value(std::string_view name) const;
  ValueId find_output(std::string_view name) const;

  /// `wanted`, or the first of `wanted.1`, `wanted.2`, … that names no node and whose first `outputs` outputs would
  /// have names that no value has.
  std::string unique_node_name(const std::string& wanted, size_t outputs = 1) const;

 private:
  std::string name_;
  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<Output> outputs_;
  std::vector<StateUpdate> updates_;
  std::vector<FiniteCheck> checks_;
  std::unordered_map<std::string, ValueId> values_by_name_;
  std::unordered_set<std::string> node_names_;
};

std::string_view to_string(ValueKind kind);
std::string_view to_string(Phase phase);

}  // namespace plimsoll::graph
