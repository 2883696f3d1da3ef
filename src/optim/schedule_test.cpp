#include "optim/schedule.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace plimsoll::optim {
namespace {

/// Learning rates of these updates, against numbers worked out by hand.
void expect_rates(const ScheduleConfig& config, const std::vector<int64_t>& updates,
                  const std::vector<double>& expected) {
  const Schedule schedule = Schedule::make(config).value();
  for (size_t i = 0; i < updates.size(); ++i)
    EXPECT_NEAR(schedule.learning_rate(updates[i]), expected[i], 1e-12) << config.name << " update " << updates[i];
}

TEST(Schedule, RisesLinearlyBeforeWhatFollows) {
  for (const char* name : {"constant", "linear", "cosine", "inverse_sqrt"})
    expect_rates({.name = name, .lr = 0.5, .warmup = 4, .total = 100}, {0, 1, 2, 3, 4}, {0.1, 0.2, 0.3, 0.4, 0.5});
}

TEST(Schedule, StaysWhereItIsConstant) { expect_rates({.lr = 0.25}, {0, 1, 1'000'000}, {0.25, 0.25, 0.25}); }

TEST(Schedule, FallsLinearlyToItsLeastAndStays) {
  expect_rates({.name = "linear", .lr = 2, .total = 10}, {0, 1, 5, 9, 10, 11}, {2, 1.8, 1, 0.2, 0, 0});
  expect_rates({.name = "linear", .lr = 2, .warmup = 2, .total = 6, .min_ratio = 0.5}, {2, 3, 4, 5, 6, 100},
               {2, 1.75, 1.5, 1.25, 1, 1});
}

TEST(Schedule, FallsAsACosine) {
  // cos(π/3) = 1/2, cos(2π/3) = -1/2.
  expect_rates({.name = "cosine", .lr = 4, .total = 6}, {0, 2, 3, 4, 6, 7}, {4, 3, 2, 1, 0, 0});
  expect_rates({.name = "cosine", .lr = 4, .warmup = 10, .total = 16, .min_ratio = 0.1}, {10, 12, 13, 14, 16, 99},
               {4, 3.1, 2.2, 1.3, 0.4, 0.4});
}

TEST(Schedule, FallsWithTheInverseSquareRootFromTheEndOfWarmUp) {
  expect_rates({.name = "inverse_sqrt", .lr = 1, .warmup = 3}, {3, 15, 63, 399}, {1, 0.5, 0.25, 0.1});
  expect_rates({.name = "inverse_sqrt", .lr = 1, .min_ratio = 0.3}, {0, 3, 99}, {1, 0.5, 0.3});
}

TEST(Schedule, SaysWhatIsWrongWithASetting) {
  const auto message = [](const ScheduleConfig& config) {
    const auto schedule = Schedule::make(config);
    return schedule.ok() ? "" : schedule.error().message;
  };
  EXPECT_EQ(message({.name = "cosin"}),
            "[schedule] there is no schedule 'cosin'; known are constant, linear, cosine, inverse_sqrt; did you mean "
            "'cosine'?");
  EXPECT_EQ(message({.lr = 0}), "[schedule] lr is 0.0; expected a number above 0");
  EXPECT_NE(message({.lr = std::numeric_limits<double>::quiet_NaN()}), "");
  EXPECT_EQ(message({.min_ratio = 1.5}), "[schedule] min_ratio is 1.5; expected 0 <= min_ratio <= 1");
  EXPECT_EQ(message({.warmup = -1}), "[schedule] warmup is -1; expected 0 or more updates");
  EXPECT_EQ(message({.name = "cosine", .warmup = 10, .total = 10}),
            "[schedule] total is 10; expected more updates than warmup, 10");
}

}  // namespace
}  // namespace plimsoll::optim
