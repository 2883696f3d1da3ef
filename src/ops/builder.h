#pragma once

#include <string>

#include "graph/graph.h"
#include "ops/op_table.h"

namespace plimsoll::ops {

/// How a node is made beside its op, inputs and attributes.
struct NodeOptions {
  std::string name = {};                      ///< below the scope; empty: the op's name
  std::vector<int> accumulated_outputs = {};  ///< their accumulators are the last of the inputs
};

/// Appends ops to a graph with inferred shapes. The first mistake is kept and all later calls do nothing, so that code
/// that builds a model reads like mathematics and asks once at the end whether all went well.
class Builder {
 public:
  Builder(graph::Graph& graph, const OpTable& ops) : Builder(graph, ops, own_status_) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// Returns the first output, or an invalid id after a mistake.
  graph::ValueId add(std::string_view op, std::vector<graph::ValueId> inputs, Attributes attributes = {},
                     NodeOptions options = {});
  /// Returns all outputs; after a mistake a list of `expected_outputs` invalid ids.
  std::vector<graph::ValueId> add_all(std::string_view op, std::vector<graph::ValueId> inputs, Attributes attributes,
                                      size_t expected_outputs, NodeOptions options = {});

  graph::ValueId input(const std::string& name, TensorDesc desc);
  graph::ValueId scalar(const std::string& name, DType dtype);  ///< the step scalar of that name, made once
  graph::ValueId parameter(const std::string& name, TensorDesc desc, bool is_trainable = true);
  graph::ValueId state(const std::string& name, TensorDesc desc);
  graph::ValueId constant(const std::string& name, TensorDesc desc, std::vector<double> literal);

  /// Names of nodes and leaves made while it lives get `name.` in front.
  class Scope {
   public:
    Scope(Builder& builder, const std::string& name) : builder_(builder), before_(builder.prefix_) {
      builder_.prefix_ += name + ".";
    }
    ~Scope() { builder_.prefix_ = before_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Builder& builder_;
    std::string before_;
  };
  [[nodiscard]] Scope scope(const std::string& name) { return Scope(*this, name); }
  /// `name` below the current scope.
  std::string path(const std::string& name) const { return prefix_ + name; }

  void set_phase(graph::Phase phase) { phase_ = phase; }
  const graph::Graph& target() const { return graph_; }
  graph::Graph& target() { return graph_; }
  const OpTable& ops() const { return ops_; }
  /// By value, since the graph's values move when ops are added. Requires: `id` is valid.
  TensorDesc desc(graph::ValueId id) const { return graph_.value(id).desc; }

  /// The first mistake, or success.
  const Status& status() const { return status_; }
  /// Keeps `error` as the first mistake, if there was none; returns an invalid id.
  graph::ValueId fail(Error error);

 protected:
  /// Keeps the first mistake in `status`, which may hold one of an earlier builder already. Requires: it outlives this.
  Builder(graph::Graph& graph, const OpTable& ops, Status& status) : graph_(graph), ops_(ops), status_(status) {}

 private:
  graph::ValueId leaf(graph::ValueKind kind, const std::string& name, TensorDesc desc, bool is_trainable = false);

  graph::Graph& graph_;
  const OpTable& ops_;
  std::string prefix_;
  graph::Phase phase_ = graph::Phase::kForward;
  Status own_status_;
  Status& status_;
};

}  // namespace plimsoll::ops
