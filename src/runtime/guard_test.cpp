#include "runtime/guard.h"

#include <gtest/gtest.h>

#include <limits>

#include "memory/poison.h"
#include "program/sample_programs.h"
#include "runtime/fake_backend.h"

namespace plimsoll::runtime {
namespace {

using backends::LaunchArgs;
using program::Program;
namespace samples = program::samples;

constexpr size_t kElements = 64;

/// A guarded step of the sample of one segment, in an arena with 256 spare bytes above the workspace.
class GuardedSingle {
 public:
  /// Kernels that write all of their outputs: y = 1, relu in place, loss = 1, w += 1.
  GuardedSingle() {
    for (size_t i = 0; i < 3; ++i)
      launches[i] = [i](const LaunchArgs& a) {
        for (size_t k = 0; k < (i == 2 ? 1 : kElements); ++k) floats(a.dsts[0])[k] = 1;
        if (a.workspace != nullptr) std::memset(a.workspace, 1, 256);
      };
    launches[3] = [](const LaunchArgs& a) {
      for (size_t k = 0; k < 2 * kElements; ++k) floats(a.dsts[0])[k] += 1;
    };
  }

  GuardReport run(const GuardOptions& options = {}) {
    FakeBackend backend;
    std::vector<FakeKernel> kernels(launches.begin(), launches.end());
    Binding binding{.backend = &backend};
    for (const FakeKernel& kernel : kernels) binding.kernels.push_back(&kernel);
    binding.arenas[static_cast<size_t>(Space::kHost)] = arena().data();
    Executor executor(program, binding);
    const auto feed = [this](InstructionId, int64_t) -> const void* { return x.data(); };
    return run_guarded(executor, arena(), Space::kHost, feed, options);
  }

  std::span<std::byte> arena() { return std::as_writable_bytes(std::span(storage)); }

  Program program = samples::single_segment();
  std::array<FakeKernel::Launch, 4> launches;
  std::vector<float> x = std::vector<float>(kElements, 1.0f);
  std::vector<float> storage = std::vector<float>((1280 + 256) / sizeof(float), 0.0f);
};

/// Four bytes that end in the poison's.
float of_bits(uint32_t bits) { return std::bit_cast<float>(bits); }

TEST(Guard, FindsNoFaultInAStepWithoutOne) {
  GuardedSingle step;
  const GuardReport report = step.run({.checks_outside = true});
  EXPECT_EQ(report.fault, "");
  EXPECT_TRUE(report.outcome.is_finite);
  EXPECT_EQ(report.executed_peak_bytes, 1280);
  EXPECT_EQ(report.fences, 1) << "below the workspace lies y";
}

TEST(Guard, TakesOutputsThatEndInPoisonAsWritten) {
  // i32 -1 and -100, f32 -inf and a NaN of all ones, and the low half of an i64 of -1.
  for (const uint32_t bits : {0xFFFFFFFFu, 0xFFFFFF9Cu, 0xFF800000u, 0xFFFFFF00u}) {
    GuardedSingle step;
    step.launches[0] = [bits](const LaunchArgs& a) {
      for (size_t k = 0; k < kElements; ++k) floats(a.dsts[0])[k] = of_bits(bits);
      std::memset(a.workspace, 0xFF, 256);
    };
    // In place, so not fresh; and what is added to is state.
    step.launches[1] = [bits](const LaunchArgs& a) { floats(a.dsts[0])[kElements - 1] = of_bits(bits); };
    step.x.assign(kElements, of_bits(bits));
    const GuardReport report = step.run();
    EXPECT_EQ(report.fault, "") << std::hex << bits;
    EXPECT_EQ(report.executed_peak_bytes, 1280) << std::hex << bits;
  }
}

TEST(Guard, FindsAnOutputWhoseEndIsNotWritten) {
  for (const float value : {1.0f, of_bits(0xFFFFFFFF)}) {
    GuardedSingle step;
    step.launches[0] = [value](const LaunchArgs& a) {
      for (size_t k = 0; k + 1 < kElements; ++k) floats(a.dsts[0])[k] = value;
    };
    const GuardReport report = step.run();
    EXPECT_EQ(report.fault, "'fc' left the end of an output unwritten");
    EXPECT_EQ(report.executed_peak_bytes, 1024) << "the workspace above was not used";
  }
}

TEST(Guard, PutsBackWhatASecondRunWouldAddTo) {
  GuardedSingle step;
  // The update gets a second output, fresh and all ones: it makes the guard run the kernel twice.
  step.program.kernels[3].dsts.push_back(samples::f32(1));
  step.program.buffers.push_back({"spare", 4});
  step.program.residences.push_back(
      {.buffer = 5, .end_bytes = 4, .offset_bytes = 576, .first = {0, 5}, .last = {0, 6}});
  step.program.segments[0].instructions[5].operands.push_back(samples::write(5, 0, 4, 1));
  int runs = 0;
  step.launches[3] = [&runs](const LaunchArgs& a) {
    ++runs;
    for (size_t k = 0; k < 2 * kElements; ++k) floats(a.dsts[0])[k] += 1;
    floats(a.dsts[1])[0] = of_bits(0xFFFFFFFF);
  };
  const GuardReport report = step.run({.checks_outside = true});
  EXPECT_EQ(report.fault, "");
  EXPECT_EQ(runs, 2);
  for (size_t k = 0; k < 2 * kElements; ++k) EXPECT_EQ(step.storage[k], 1.0f) << k;
}

TEST(Guard, FindsAWriteBeyondAWorkspaceAndPutsTheBytesBack) {
  for (const size_t beyond : {size_t{0}, size_t{255}}) {
    GuardedSingle step;
    const auto good = step.launches[0];
    step.launches[0] = [good, beyond](const LaunchArgs& a) {
      good(a);
      static_cast<char*>(a.workspace)[256 + beyond] = 1;
    };
    EXPECT_EQ(step.run().fault, "'fc' wrote beyond its workspace");
    EXPECT_EQ(step.storage.back(), 0.0f);
  }
}

TEST(Guard, FindsAWriteToWhatTheInstructionDoesNotOwn) {
  GuardedSingle step;
  const auto good = step.launches[1];
  step.launches[1] = [good](const LaunchArgs& a) {
    good(a);
    *(floats(a.dsts[0]) - 192) = 3;  // a weight
  };
  EXPECT_EQ(step.run().fault, "");
  EXPECT_EQ(step.run({.checks_outside = true}).fault, "'relu' changed bytes that it does not own");
}

TEST(Guard, StopsWhereTheStepStops) {
  GuardedSingle step;
  step.launches[2] = [](const LaunchArgs& a) { floats(a.dsts[0])[0] = std::numeric_limits<float>::infinity(); };
  const GuardReport report = step.run();
  EXPECT_FALSE(report.outcome.is_finite);
  EXPECT_EQ(report.outcome.failed_check, (InstructionId{0, 4}));
  EXPECT_EQ(report.fault, "");
}

}  // namespace
}  // namespace plimsoll::runtime
