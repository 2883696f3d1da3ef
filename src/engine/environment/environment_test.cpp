#include "engine/environment/environment.h"

#include <gtest/gtest.h>

#include "engine/environment/processor.h"
#include "hardware/probe_cores.h"

namespace plimsoll::engine {
namespace {

using hardware::InstructionSet;

TEST(Environment, RefusesAProcessorWithoutAvx2) {
  EXPECT_TRUE(check_processor({InstructionSet::kAvx2, InstructionSet::kFma}).ok());
  const Status refusal = check_processor({InstructionSet::kF16c});
  ASSERT_FALSE(refusal.ok());
  EXPECT_EQ(refusal.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(refusal.error().message,
            "this processor has no AVX2 (instruction sets: f16c); expected an x86-64 processor with AVX2 (Intel "
            "Core since 2013, AMD since 2015)");
  EXPECT_FALSE(check_processor({}).ok());
}

TEST(Environment, WarnsOfMoreThreadsThanCores) {
  EXPECT_EQ(Environment::make({}).value()->warning(), "");
  const int usable = hardware::probe_cores({}, hardware::probe_affinity()).usable;
  const auto crowded = Environment::make({.threads = usable + 1}).value();
  EXPECT_EQ(crowded->pool().threads(), usable + 1);
  EXPECT_EQ(crowded->warning().find(std::to_string(usable + 1) + " threads share " + std::to_string(usable)), 0u);
}

TEST(Environment, RefusesANumberOfThreadsThatMakesNoSense) {
  EXPECT_FALSE(Environment::make({.threads = -1}).ok());
  EXPECT_FALSE(Environment::make({.threads = 5000}).ok());
}

}  // namespace
}  // namespace plimsoll::engine
