#include <gtest/gtest.h>

#include "allocation_probe/allocation_probe.h"
#include "engine/small_step.h"

namespace plimsoll::engine {
namespace {

/// The largest block that a library may take in a step; oneDNN's products take up to 34 KB.
constexpr int64_t kLargestLibraryBlock = 64 << 10;

void expect_no_allocation(SmallStep& step) {
  for (int64_t i = 1; i <= 2; ++i) ASSERT_TRUE(step.run(i).is_finite);
  allocation_probe::start();
  bool is_finite = true;
  for (int64_t i = 3; i <= 5; ++i) is_finite = step.run(i).is_finite && is_finite;
  const allocation_probe::Report report = allocation_probe::stop();
  EXPECT_TRUE(is_finite);
  EXPECT_EQ(report.ours.calls, 0);
  for (const std::string& call : report.our_first_calls) ADD_FAILURE() << call;
  for (const auto& library : report.by_library)
    EXPECT_LE(library.counts.largest_bytes, kLargestLibraryBlock) << library.name;
}

TEST(Allocation, AStepOfATinyGpt2MakesNone) {
  const auto environment = make_environment(2);
  SmallStep step(*environment, make_tiny_gpt2(environment->ops(), 4, 64, 0.1), {.microbatches = 2});
  expect_no_allocation(step);
}

TEST(Allocation, AStepOfAnMlpMakesNone) {
  const auto environment = make_environment(2);
  for (const char* optimizer : {"sgd", "adamw"}) {
    SmallStep step(*environment, make_mlp(environment->ops(), 300, 400), {.optimizer = {.name = optimizer}});
    expect_no_allocation(step);
  }
}

}  // namespace
}  // namespace plimsoll::engine
