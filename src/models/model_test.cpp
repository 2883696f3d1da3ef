#include "models/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace plimsoll::models {
namespace {

std::vector<float> draw(const Initializer& initializer, int64_t first = 0, size_t count = 100'000) {
  std::vector<float> values(count);
  initialize(values, first, initializer, "weight", 7);
  return values;
}

double deviation(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

TEST(Initializer, DrawsTheDeviationThatWasAskedFor) {
  EXPECT_NEAR(deviation(draw(normal(0.02))), 0.02, 2e-4);
  EXPECT_NEAR(deviation(draw(uniform(0.3))), 0.3 / std::sqrt(3.0), 1e-3);
}

TEST(Initializer, CutsTheTruncatedNormalOffAtTwoDeviations) {
  const auto values = draw(truncated_normal(0.02));
  const auto [least, most] = std::ranges::minmax(values);
  EXPECT_GE(least, -0.04f);
  EXPECT_LE(most, 0.04f);
  EXPECT_GT(most, 0.0399f);
  // The deviation of a normal cut off at two of its own is 0.8796 of it.
  EXPECT_NEAR(deviation(values), 0.8796 * 0.02, 2e-4);
}

TEST(Initializer, ElementsDoNotDependOnWhereADrawBegins) {
  for (const Initializer& initializer : {normal(1), truncated_normal(1), uniform(1)}) {
    const auto whole = draw(initializer, 0, 64);
    const auto part = draw(initializer, 13, 20);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 13));
  }
}

}  // namespace
}  // namespace plimsoll::models
