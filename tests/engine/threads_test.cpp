#include <gtest/gtest.h>

#include "engine/small_step.h"

namespace plimsoll::engine {
namespace {

struct Trained {
  std::vector<float> losses;
  Tensors state;
};

Trained train(int threads, bool is_gpt2) {
  const auto environment = make_environment(threads);
  const models::Model model =
      is_gpt2 ? make_tiny_gpt2(environment->ops(), 4, 48, 0.1) : make_mlp(environment->ops(), 96, 200);
  SmallStep step(*environment, model, {.microbatches = 2});
  Trained out;
  for (int64_t i = 1; i <= 10; ++i) {
    EXPECT_TRUE(step.run(i).is_finite);
    out.losses.push_back(step.loss());
  }
  out.state = step.state();
  return out;
}

class Threads : public testing::TestWithParam<bool> {};

TEST_P(Threads, TenStepsGiveTheSameBitsForAnyNumber) {
  const Trained one = train(1, GetParam());
  EXPECT_LT(one.losses.back(), one.losses.front());
  for (const int threads : {2, 3, 8}) {
    const Trained other = train(threads, GetParam());
    EXPECT_EQ(other.losses, one.losses) << threads;
    expect_equal_bits(other.state, one.state, std::to_string(threads) + " threads");
  }
}

INSTANTIATE_TEST_SUITE_P(, Threads, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& test) { return test.param ? "gpt2" : "mlp"; });

}  // namespace
}  // namespace plimsoll::engine
