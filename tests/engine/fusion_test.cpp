// Every choice of fusions on the small models: the same losses and gradients as without.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/small_step.h"

namespace plimsoll::engine {
namespace {

using Fusions = std::vector<std::string>;

std::vector<Fusions> all_choices() {
  const Fusions& names = transform::fusion_names();
  std::vector<Fusions> out;
  for (size_t choice = 0; choice < size_t{1} << names.size(); ++choice) {
    Fusions fusions;
    for (size_t i = 0; i < names.size(); ++i)
      if ((choice >> i & 1) != 0) fusions.push_back(names[i]);
    out.push_back(std::move(fusions));
  }
  return out;
}

/// These change the order in which numbers add up; all others keep every bit.
bool changes_bits(const Fusions& fusions) { return std::ranges::count(fusions, "fuse_bias_gradient") > 0; }

struct Case {
  std::string name;
  models::Model (*make)(const ops::OpTable& ops);
};

class Fusion : public testing::TestWithParam<Case> {};

/// Losses and gradients of two steps, and what they leave.
struct Trained {
  Tensors outputs;
  Tensors state;
  size_t kernels;
};

Trained train(const models::Model& model, Environment& environment, const Fusions& fusions, int64_t microbatches) {
  SmallStep step(environment, model, {.microbatches = microbatches, .gives_gradients = true, .fusions = fusions});
  for (int64_t i = 1; i <= 2; ++i) EXPECT_TRUE(step.run(i).is_finite);
  return {step.outputs(), step.state(), step.compiled().program().segments[0].instructions.size()};
}

TEST_P(Fusion, NoChoiceChangesLossesOrGradients) {
  const auto environment = make_environment(2);
  const models::Model model = GetParam().make(environment->ops());
  for (const int64_t microbatches : {1, 3}) {
    const Trained plain = train(model, *environment, {}, microbatches);
    size_t fewest = plain.kernels;
    for (const Fusions& fusions : all_choices()) {
      const std::string what = testing::PrintToString(fusions) + " " + std::to_string(microbatches);
      const Trained fused = train(model, *environment, fusions, microbatches);
      fewest = std::min(fewest, fused.kernels);
      if (!changes_bits(fusions)) {
        expect_equal_bits(fused.outputs, plain.outputs, what);
        expect_equal_bits(fused.state, plain.state, what);
      } else {
        EXPECT_LT(largest_difference(fused.outputs, plain.outputs), 1e-5) << what;
      }
    }
    EXPECT_LT(fewest, plain.kernels);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , Fusion,
    testing::Values(Case{"mlp", [](const ops::OpTable& ops) { return make_mlp(ops, 24); }},
                    Case{"gpt2", [](const ops::OpTable& ops) { return make_tiny_gpt2(ops, 2, 24); }},
                    Case{"gpt2_dropout", [](const ops::OpTable& ops) { return make_tiny_gpt2(ops, 2, 24, 0.1); }},
                    Case{"bert_dropout", [](const ops::OpTable& ops) { return make_tiny_bert(ops, 2, 24, 0.1); }}),
    [](const testing::TestParamInfo<Case>& test) { return test.param.name; });

}  // namespace
}  // namespace plimsoll::engine
