#pragma once

// Random but valid training-like graphs for this folder's tests, and their leaves.

#include <algorithm>
#include <string>

#include "core/hash.h"
#include "core/philox.h"
#include "ops/builder.h"
#include "ops/evaluate.h"
#include "transform/shared_storage.h"

namespace plimsoll::transform {

/// Makes a graph over f32[4] values with everything that passes must respect: repeated nodes, constants, fills, views,
/// accumulation, several outputs, random ops, three phases, updates, checks, and values that nobody reads.
class RandomGraph {
 public:
  RandomGraph(const ops::OpTable& ops, uint64_t seed) : ops_(ops), random_(seed), b_(graph_, ops) {}

  graph::Graph run() {
    for (const char* name : {"x", "y"}) pool_.push_back(b_.input(name, kVector));
    for (const char* name : {"w", "v"}) pool_.push_back(b_.parameter(name, kVector));
    pool_.push_back(b_.constant("c", kVector, {1, -2, 0.5, 3}));
    pool_.push_back(b_.constant("c_again", kVector, {1, -2, 0.5, 3}));
    for (const graph::Phase phase : {graph::Phase::kForward, graph::Phase::kBackward}) {
      b_.set_phase(phase);
      for (int i = 0; i < 12; ++i) add_random_node();
    }
    b_.set_phase(graph::Phase::kUpdate);
    for (int i = 0; i < 3; ++i) add_random_node();
    add_ends();
    PLIMSOLL_CHECK(b_.status().ok(), b_.status().error().message);
    return std::move(graph_);
  }

 private:
  static inline const TensorDesc kVector{DType::kF32, {4}, {}};

  size_t draw(size_t below) { return random_(counter_++, 0)[0] % below; }
  graph::ValueId pick() { return pool_[draw(pool_.size())]; }
  std::string pick(std::initializer_list<const char*> names) { return names.begin()[draw(names.size())]; }

  void add_random_node() {
    switch (draw(8)) {
      case 0: return pool_.push_back(b_.add(pick({"neg", "abs", "relu", "tanh", "sin"}), {pick()}));
      case 1: return pool_.push_back(b_.add(pick({"add", "multiply", "subtract", "maximum"}), {pick(), pick()}));
      case 2: return repeat_a_node();
      case 3: return pool_.push_back(reshape(reshape(pick(), {2, 2}), {4}));
      case 4: return pool_.push_back(fill());
      case 5: return accumulate();
      case 6: return split_and_concat();
      default: return drop_out();
    }
  }

  graph::ValueId reshape(graph::ValueId src, std::vector<int64_t> shape) {
    return b_.add("reshape", {src}, {{"shape", std::move(shape)}});
  }

  graph::ValueId fill() {
    return b_.add("fill", {},
                  {{"shape", std::vector<int64_t>{4}},
                   {"dtype", std::string("f32")},
                   {"value", 0.5 * static_cast<double>(draw(3))}});
  }

  /// The same op on the same inputs as an earlier node, where those may still be read.
  void repeat_a_node() {
    if (graph_.nodes().empty()) return;
    const graph::Node node = graph_.nodes()[draw(graph_.nodes().size())];
    const bool is_readable = std::all_of(node.inputs.begin(), node.inputs.end(), [&](graph::ValueId v) {
      return std::count(gone_.begin(), gone_.end(), view_root(graph_, ops_, v)) == 0;
    });
    if (!is_readable || !node.accumulated_outputs.empty()) return;
    const auto made = b_.add_all(node.op, node.inputs, node.attributes, node.outputs.size());
    if (b_.desc(made[0]) == kVector) pool_.push_back(made[0]);
  }

  void accumulate() {
    const graph::ValueId root = view_root(graph_, ops_, pick());
    // Nothing may add into a leaf.
    if (graph_.value(root).kind != graph::ValueKind::kComputed || b_.desc(root) != kVector) return;
    const graph::ValueId source = pick();
    if (view_root(graph_, ops_, source) == root) return;
    const graph::ValueId row = reshape(source, {1, 4});
    pool_.push_back(b_.add("reduce_sum", {row, root}, {{"axes", std::vector<int64_t>{0}}, {"keep_dims", false}},
                           {.name = "sum", .accumulated_outputs = {0}}));
    gone_.push_back(root);
    std::erase_if(pool_, [&](graph::ValueId v) { return view_root(graph_, ops_, v) == root; });
  }

  void split_and_concat() {
    const auto halves = b_.add_all("split", {pick()}, {{"axis", int64_t{0}}, {"sizes", std::vector<int64_t>{2, 2}}}, 2);
    pool_.push_back(b_.add("concat", {halves[draw(2)], halves[1]}, {{"axis", int64_t{0}}}));
  }

  void drop_out() {
    pool_.push_back(b_.add(
        "dropout",
        {pick(), b_.scalar("seed", DType::kI64), b_.scalar("step", DType::kI64), b_.scalar("microbatch", DType::kI64)},
        {{"p", 0.5}, {"path", "drop" + std::to_string(draw(2))}}));
  }

  void add_ends() {
    graph_.add_output("first", pick_computed());
    graph_.add_output("second", pick_computed());
    graph_.add_check(b_.add("sum_of_squares", {pick()}), "norm");
    const graph::ValueId lr = b_.scalar("lr", DType::kF32);
    const graph::ValueId scale = b_.constant("scale", {DType::kF32, {}, {}}, {1.0});
    const graph::ValueId d_w = b_.add("neg", {pick()});
    const graph::ValueId d_v = b_.add("neg", {pick()});
    graph_.add_update(graph_.find_value("w"), b_.add("sgd", {graph_.find_value("w"), d_w, lr, scale}));
    graph_.add_update(graph_.find_value("v"), b_.add("sgd", {graph_.find_value("v"), d_v, lr, scale}));
  }

  /// No view of a leaf: the update would change it under the reader of an output.
  graph::ValueId pick_computed() {
    while (true)
      if (const graph::ValueId id = pick();
          graph_.value(view_root(graph_, ops_, id)).kind == graph::ValueKind::kComputed)
        return id;
  }

  const ops::OpTable& ops_;
  Philox random_;
  uint64_t counter_ = 0;
  graph::Graph graph_{"random"};
  ops::Builder b_;
  std::vector<graph::ValueId> pool_;  ///< what may be read
  std::vector<graph::ValueId> gone_;  ///< roots of what was added into
};

/// Arrays for the leaves of a graph that RandomGraph made, by name alone, so that a copy with other ids gets the same.
inline std::vector<ops::Array> make_leaves(const graph::Graph& graph) {
  std::vector<ops::Array> out(graph.values().size());
  for (size_t i = 0; i < out.size(); ++i) {
    const graph::Value& value = graph.values()[i];
    const bool is_integer = !is_floating(value.desc.dtype);
    if (value.kind != graph::ValueKind::kComputed)
      out[i] = ops::make_sample_array({.desc = value.desc, .high = is_integer ? 9.0 : 1.0, .is_integer = is_integer},
                                      stable_hash(value.name));
  }
  return out;
}

}  // namespace plimsoll::transform
