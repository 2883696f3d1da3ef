#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/runner.h"
#include "engine/training_graph.h"
#include "memory/arena.h"
#include "models/bert.h"
#include "models/gpt2.h"
#include "runtime/guard.h"

/// What the engine's tests share: three small models, fed with numbers that depend on names and positions alone.
namespace plimsoll::engine {

inline constexpr int64_t kTinyVocabulary = 101;

/// Two layers of width 32.
models::Model make_tiny_gpt2(const ops::OpTable& ops, int64_t batch, int64_t seq, double dropout = 0);

/// Three linear layers before the cross-entropy of ten classes; inputs x f32 [batch,16] and targets i32 [batch].
models::Model make_mlp(const ops::OpTable& ops, int64_t batch, int64_t width = 48);

/// One layer of width 32, with both heads; targets are masked as data for BERT are: most are -100, the last too.
models::Model make_tiny_bert(const ops::OpTable& ops, int64_t batch, int64_t seq, double dropout = 0);

/// A value's elements by its name.
using Tensors = std::map<std::string, std::vector<float>>;

struct SmallStepOptions {
  int64_t microbatches = 1;
  bool in_place = true;
  optim::OptimizerConfig optimizer{};
  bool checks_gradients = true;
  bool gives_gradients = false;  ///< as outputs "<parameter>.grad"
  int64_t fence_bytes = 0;       ///< free on both sides of each workspace
  std::vector<std::string> fusions = transform::fusion_names();
};

/// A model's training step, compiled, in an arena of its own, with parameters, inputs and scalars filled in.
class SmallStep {
 public:
  /// `model` is one microbatch. Requires: `environment` outlives this.
  SmallStep(Environment& environment, const models::Model& model, const SmallStepOptions& options = {});

  /// Runs step number `step` (counted from 1).
  runtime::Outcome run(int64_t step);
  runtime::GuardReport run_guarded(int64_t step, const runtime::GuardOptions& options);

  /// What is fed as input `name`, all microbatches.
  template <class T>
  std::span<T> input(const std::string& name) {
    std::vector<std::byte>& bytes = inputs_.at(name);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  Runner& runner() { return *runner_; }
  const CompiledProgram& compiled() const { return compiled_; }
  float loss() const { return runner_->scalar_output("loss"); }
  Tensors state() const;
  Tensors outputs() const;
  std::span<float> state_of(const std::string& name);

 private:
  void fill_state(const models::Model& model);
  void fill_inputs(const graph::Graph& graph, int64_t microbatches);
  void set_scalars(int64_t step);

  CompiledProgram compiled_;
  std::unique_ptr<memory::Arena> arena_;
  std::map<std::string, std::vector<std::byte>> inputs_;
  std::unique_ptr<Runner> runner_;
};

/// The environment with so many threads.
std::unique_ptr<Environment> make_environment(int threads);

/// Expects the same names with the same bits (NaN and signs of zero included).
void expect_equal_bits(const Tensors& got, const Tensors& want, const std::string& what);

/// The largest |got - want| / max(1, |want|) over all elements. Requires: equal names and sizes.
double largest_difference(const Tensors& got, const Tensors& want);

}  // namespace plimsoll::engine
