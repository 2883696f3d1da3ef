#pragma once

#include <string>
#include <vector>

#include "ops/builder.h"

namespace plimsoll::ops {

/// What an op's gradient rule sees: its node, the gradients of its outputs, and a place for those of its inputs.
///
/// Nodes added through it belong to the backward phase and are named after the node that they differentiate.
class GradientContext {
 public:
  /// `d_dsts`: one gradient an output; an invalid id where none flows. `wanted`: one flag an input.
  GradientContext(Builder& builder, graph::NodeId node, std::vector<graph::ValueId> d_dsts, std::vector<bool> wanted,
                  bool is_loss_root)
      : builder_(builder),
        node_(node),
        d_dsts_(std::move(d_dsts)),
        wanted_(std::move(wanted)),
        is_loss_root_(is_loss_root),
        d_srcs_(wanted_.size()) {}

  const Attributes& attributes() const { return node().attributes; }
  graph::ValueId src(size_t i) const { return node().inputs[i]; }
  graph::ValueId dst(size_t i) const { return node().outputs[i]; }
  size_t src_count() const { return wanted_.size(); }
  TensorDesc src_desc(size_t i) const { return builder_.desc(src(i)); }
  TensorDesc dst_desc(size_t i) const { return builder_.desc(dst(i)); }
  /// The gradient of output i, or an invalid id where none flows.
  graph::ValueId d_dst(size_t i) const { return d_dsts_[i]; }
  /// Whether input i needs a gradient.
  bool wants(size_t i) const { return i < wanted_.size() && wanted_[i]; }
  /// Whether output 0 is the scalar that differentiation starts from, or a term of it, so that its gradient is 1.
  bool is_loss_root() const { return is_loss_root_; }

  /// Adds a backward node; returns its first output.
  graph::ValueId add(std::string_view op, std::vector<graph::ValueId> inputs, Attributes attributes = {});
  /// Adds a backward node; returns all outputs.
  std::vector<graph::ValueId> add_all(std::string_view op, std::vector<graph::ValueId> inputs, Attributes attributes,
                                      size_t expected_outputs);
  /// Turns the node itself into `op` with more outputs (its first ones stay what they were) and returns the new ones:
  /// for ops that make gradients in their forward pass. Where another value has the name of one, the builder fails.
  std::vector<graph::ValueId> replace(std::string_view op, Attributes attributes);

  /// A scalar or tensor constant that broadcasts.
  graph::ValueId constant(double number, DType dtype);
  /// `gradient` summed over the axes along which `shape` was broadcast.
  graph::ValueId sum_to(graph::ValueId gradient, Shape shape);

  /// Keeps what the user should hear of how this gradient is made, e.g. that it costs more than need be.
  void note(std::string text) { notes_.push_back("[" + node().op + "] '" + node().name + "' " + std::move(text)); }
  std::span<const std::string> notes() const { return notes_; }

  void set_d_src(size_t i, graph::ValueId gradient) { d_srcs_[i] = gradient; }
  std::span<const graph::ValueId> d_srcs() const { return d_srcs_; }

 private:
  const graph::Node& node() const { return builder_.target().node(node_); }

  Builder& builder_;
  graph::NodeId node_;
  std::vector<graph::ValueId> d_dsts_;
  std::vector<bool> wanted_;
  bool is_loss_root_;
  std::vector<graph::ValueId> d_srcs_;
  std::vector<std::string> notes_;
};

}  // namespace plimsoll::ops
