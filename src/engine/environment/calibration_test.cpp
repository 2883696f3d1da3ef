#include "engine/environment/calibration.h"

#include <gtest/gtest.h>

namespace plimsoll::engine {
namespace {

TEST(Calibration, MeasuresOnceForABackendAndItsThreads) {
  const auto environment = Environment::make({.threads = 2}).value();
  const Rates first = measure_rates(*environment, mebibytes(40));
  EXPECT_GT(first.flops_per_s, 1e8);
  EXPECT_GT(first.bytes_per_s, 1e8);
  const auto again = Environment::make({.threads = 2}).value();
  const Rates second = measure_rates(*again, mebibytes(400));
  EXPECT_EQ(second.flops_per_s, first.flops_per_s);
  EXPECT_EQ(second.bytes_per_s, first.bytes_per_s);
}

TEST(Calibration, DoesNotTimeTheReferenceBackend) {
  const auto environment = Environment::make({.threads = 1, .reference = true}).value();
  EXPECT_EQ(measure_rates(*environment, mebibytes(40)).flops_per_s, Rates{}.flops_per_s);
}

}  // namespace
}  // namespace plimsoll::engine
