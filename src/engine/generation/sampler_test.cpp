#include "engine/generation/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace plimsoll::engine {
namespace {

const std::vector<float> kLogits{std::log(0.5f), std::log(0.3f), std::log(0.15f), std::log(0.05f)};

std::map<int32_t, int> count_draws(const SamplingOptions& options, int draws) {
  Sampler sampler(options, 4);
  std::map<int32_t, int> out;
  for (int i = 0; i < draws; ++i) ++out[sampler.draw(kLogits, i)];
  return out;
}

TEST(Sampler, ZeroTemperatureTakesTheMostProbable) {
  EXPECT_EQ(count_draws({.temperature = 0}, 50), (std::map<int32_t, int>{{0, 50}}));
}

TEST(Sampler, DrawsInProportion) {
  const auto counts = count_draws({.seed = 3}, 20'000);
  EXPECT_NEAR(counts.at(0) / 20'000.0, 0.5, 0.02);
  EXPECT_NEAR(counts.at(3) / 20'000.0, 0.05, 0.01);
}

TEST(Sampler, TopKAndTopPKeepTheHead) {
  EXPECT_EQ(count_draws({.top_k = 2}, 500).size(), 2u);
  EXPECT_EQ(count_draws({.top_p = 0.7}, 500).size(), 2u);
  EXPECT_EQ(count_draws({.top_p = 0.95}, 500).size(), 3u);
  EXPECT_EQ(count_draws({.top_k = 100}, 2000).size(), 4u);
}

TEST(Sampler, TheDrawIsAFunctionOfSeedAndPosition) {
  Sampler a({.seed = 9}, 4), b({.seed = 9}, 4);
  b.draw(kLogits, 77);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(a.draw(kLogits, i), b.draw(kLogits, i));
}

TEST(Sampler, RefusesSettingsOutOfRange) {
  EXPECT_FALSE(check_sampling({.temperature = -1}).ok());
  EXPECT_FALSE(check_sampling({.temperature = std::nan("")}).ok());
  EXPECT_FALSE(check_sampling({.top_k = -1}).ok());
  EXPECT_FALSE(check_sampling({.top_p = 0}).ok());
  EXPECT_TRUE(check_sampling({}).ok());
}

}  // namespace
}  // namespace plimsoll::engine
