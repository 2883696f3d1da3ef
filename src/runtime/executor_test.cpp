#include "runtime/executor.h"

#include <gmock/gmock.h>

#include <limits>
#include <set>

#include "program/sample_programs.h"
#include "runtime/fake_backend.h"

namespace plimsoll::runtime {
namespace {

using backends::LaunchArgs;
using program::Instruction;
using program::Kind;
using program::Program;
using program::When;
namespace samples = program::samples;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr size_t kElements = 64;
constexpr int64_t kMicrobatches = 4;

/// A program on fake kernels, in arenas that begin as 7s: nothing may rely on zeros.
class Bound {
 public:
  Bound(Program program, std::vector<FakeKernel::Launch> launches) : program_(std::move(program)) {
    for (auto& launch : launches) kernels_.push_back(std::make_unique<FakeKernel>(std::move(launch)));
    Binding binding{.backend = &backend_};
    for (const auto& kernel : kernels_) binding.kernels.push_back(kernel.get());
    for (size_t space = 0; space < arenas_.size(); ++space) {
      arenas_[space].assign(static_cast<size_t>(program_.arena_bytes[space]) / sizeof(float), 7.0f);
      binding.arenas[space] = reinterpret_cast<std::byte*>(arenas_[space].data());
    }
    executor_.emplace(program_, binding);
  }

  Executor& executor() { return *executor_; }
  std::span<float> at(int residence, size_t count = kElements) {
    return {reinterpret_cast<float*>(executor_->address(residence)), count};
  }

 private:
  Program program_;
  FakeBackend backend_;
  std::vector<std::unique_ptr<FakeKernel>> kernels_;
  std::array<std::vector<float>, kSpaceCount> arenas_;
  std::optional<Executor> executor_;
};

/// The sample of one segment: y = x + w, y = max(y, 0) in place, loss = sum y, w -= y / 2.
std::vector<FakeKernel::Launch> single_segment_kernels() {
  return {[](const LaunchArgs& a) {
            ASSERT_NE(a.workspace, nullptr);
            for (size_t i = 0; i < kElements; ++i) floats(a.dsts[0])[i] = floats(a.srcs[0])[i] + floats(a.srcs[1])[i];
          },
          [](const LaunchArgs& a) {
            EXPECT_EQ(a.srcs[0], a.dsts[0]);
            EXPECT_EQ(a.workspace, nullptr);
            for (size_t i = 0; i < kElements; ++i) floats(a.dsts[0])[i] = std::max(floats(a.srcs[0])[i], 0.0f);
          },
          [](const LaunchArgs& a) {
            float sum = 0;
            for (size_t i = 0; i < kElements; ++i) sum += floats(a.srcs[0])[i];
            floats(a.dsts[0])[0] = sum;
          },
          [](const LaunchArgs& a) {
            for (size_t i = 0; i < 2 * kElements; ++i) floats(a.dsts[0])[i] -= floats(a.srcs[1])[i % kElements] / 2;
          }};
}

TEST(Executor, RunsFeedsKernelsViewsAndUpdates) {
  Bound bound(samples::single_segment(), single_segment_kernels());
  for (float& w : bound.at(0, 2 * kElements)) w = 1;
  std::vector<float> x(kElements, 2.0f);
  x[0] = -5;
  const Outcome outcome = bound.executor().run([&](InstructionId id, int64_t iteration) -> const void* {
    EXPECT_EQ(id, (InstructionId{0, 0}));
    EXPECT_EQ(iteration, 0);
    return x.data();
  });
  EXPECT_TRUE(outcome.is_finite);
  EXPECT_EQ(bound.at(4, 1)[0], 63 * 3.0f);
  for (size_t i = 0; i < 2 * kElements; ++i)
    EXPECT_EQ(bound.at(0, 2 * kElements)[i], i % kElements == 0 ? 1.0f : -0.5f) << i;
}

TEST(Executor, StopsAtANumberThatIsNotFinite) {
  for (const float number : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    auto kernels = single_segment_kernels();
    kernels[2] = [number](const LaunchArgs& a) { floats(a.dsts[0])[0] = number; };
    Bound bound(samples::single_segment(), std::move(kernels));
    for (float& w : bound.at(0, 2 * kElements)) w = 1;
    const std::vector<float> x(kElements, 2.0f);
    const Outcome outcome = bound.executor().run([&](InstructionId, int64_t) -> const void* { return x.data(); });
    EXPECT_FALSE(outcome.is_finite);
    EXPECT_EQ(outcome.failed_check, (InstructionId{0, 4}));
    EXPECT_THAT(bound.at(0, 2 * kElements), Each(1.0f));
  }
}

/// The sample of microbatches: y = x · w, dw += x · y, dw += y, in the last w -= lr · dw; norm = sum dw².
struct MicrobatchRun {
  std::vector<const void*> xs;
  int updates = 0;

  std::vector<FakeKernel::Launch> kernels() {
    return {[this](const LaunchArgs& a) {
              xs.push_back(a.srcs[0]);
              for (size_t i = 0; i < kElements; ++i) floats(a.dsts[0])[i] = floats(a.srcs[0])[i] * floats(a.srcs[1])[i];
            },
            [](const LaunchArgs& a) {
              for (size_t i = 0; i < kElements; ++i)
                floats(a.dsts[0])[i] += floats(a.srcs[0])[i] * floats(a.srcs[1])[i];
            },
            [](const LaunchArgs& a) {
              for (size_t i = 0; i < kElements; ++i) floats(a.dsts[0])[i] += floats(a.srcs[0])[i];
            },
            [this](const LaunchArgs& a) {
              ++updates;
              for (size_t i = 0; i < kElements; ++i)
                floats(a.dsts[0])[i] -= floats(a.srcs[2])[0] * floats(a.srcs[1])[i];
            },
            [](const LaunchArgs& a) {
              float sum = 0;
              for (size_t i = 0; i < kElements; ++i) sum += floats(a.srcs[0])[i] * floats(a.srcs[0])[i];
              floats(a.dsts[0])[0] = sum;
            }};
  }
};

/// What ran, in order.
class Recorder : public TraceSink {
 public:
  struct Run {
    int segment, index;
    int64_t iteration;
    friend auto operator<=>(const Run&, const Run&) = default;
  };
  void span(int segment, int index, int64_t iteration, int, int64_t start_ns, int64_t end_ns) override {
    EXPECT_LE(start_ns, end_ns);
    runs.push_back({segment, index, iteration});
  }
  std::vector<Run> runs;
};

TEST(Executor, AddsUpMicrobatchesFromZeroInTurnsOfSlotsAndUpdatesInTheLast) {
  MicrobatchRun run;
  Bound bound(samples::microbatches(), run.kernels());
  for (float& w : bound.at(0)) w = 2;
  std::vector<float> inputs;
  for (int64_t i = 0; i < kMicrobatches; ++i) inputs.insert(inputs.end(), kElements, static_cast<float>(i + 1));
  const float lr = 0.25f;
  const auto feed = [&](InstructionId id, int64_t iteration) -> const void* {
    return id.segment == 0 ? &lr : inputs.data() + iteration * static_cast<int64_t>(kElements);
  };
  for (int step = 0; step < 2; ++step) {
    for (float& w : bound.at(0)) w = 2;
    EXPECT_TRUE(bound.executor().run(feed).is_finite);
    // x = 1..4, y = 2x: dw = sum of 2x² + 2x = 60 + 20.
    EXPECT_THAT(bound.at(4), Each(80.0f));
    EXPECT_THAT(bound.at(0), Each(2 - 0.25f * 80));
    EXPECT_EQ(bound.at(6, 1)[0], 64 * 6400.0f);
  }
  EXPECT_EQ(run.updates, 2);
  ASSERT_EQ(run.xs.size(), 8u);
  EXPECT_EQ(run.xs[0], run.xs[2]);
  EXPECT_EQ(run.xs[1], run.xs[3]);
  EXPECT_NE(run.xs[0], run.xs[1]);
}

TEST(Executor, MeetsEveryWaitInTheOrderInWhichItRuns) {
  MicrobatchRun run;
  const Program program = samples::microbatches();
  Bound bound(program, run.kernels());
  const std::vector<float> x(kElements, 1.0f);
  Recorder recorder;
  bound.executor().run([&](InstructionId, int64_t) -> const void* { return x.data(); }, &recorder);
  std::set<Recorder::Run> done;
  for (const Recorder::Run& now : recorder.runs) {
    const program::Segment& segment = program.segments[static_cast<size_t>(now.segment)];
    for (const program::Wait& wait : segment.instructions[static_cast<size_t>(now.index)].waits) {
      int in_lane = 0, index = 0;
      while (segment.instructions[static_cast<size_t>(index)].lane != wait.lane || in_lane++ < wait.index) ++index;
      const int64_t iteration = now.iteration - (wait.of_previous_iteration ? 1 : 0);
      EXPECT_TRUE(iteration < 0 || done.contains({now.segment, index, iteration})) << now.index << " " << now.iteration;
    }
    done.insert(now);
  }
  EXPECT_EQ(recorder.runs.size(), 1u + 4 * 4 + 1 + 1) << "the update runs once, and is traced once";
}

/// Feeds x to the host in every iteration, copies it to the device in the first, later and last ones as `when` says,
/// and zeroes half of the copy.
Program copies(When when) {
  Program p{.name = "copies"};
  p.buffers = {{"x", 16}, {"y", 16}};
  p.residences = {
      {.buffer = 0, .end_bytes = 16, .first = {0, 0}, .last = {0, 3}},
      {.buffer = 1, .end_bytes = 16, .space = Space::kDevice, .offset_bytes = 4, .first = {0, 0}, .last = {1, 0}}};
  Instruction copy{.kind = Kind::kCopy, .operands = {samples::read(0, 0, 16, 1), samples::write(1, 0, 16, 1)}};
  copy.when = when;
  p.segments = {{"loop",
                 3,
                 {samples::feed("x", samples::write(0, 0, 16, 1)),
                  copy,
                  {.kind = Kind::kZero, .operands = {samples::write(1, 4, 12, 2)}}}}};
  p.arena_bytes = {24, 16, 0, 0};
  return p;
}

TEST(Executor, CopiesBetweenSpacesAndZeroesWhenItShould) {
  const std::pair<When, float> cases[] = {
      {When::kAlways, 2.0f}, {When::kFirst, 0.0f}, {When::kNotFirst, 2.0f}, {When::kLast, 2.0f}};
  for (const auto& [when, last] : cases) {
    Bound bound(copies(when), {});
    std::vector<float> x(4);
    bound.executor().run([&](InstructionId, int64_t iteration) -> const void* {
      x.assign(4, static_cast<float>(iteration));
      return x.data();
    });
    EXPECT_THAT(bound.at(1, 4), ElementsAre(last, 0, 0, last)) << to_string(when);
    EXPECT_THAT((std::span(bound.at(1, 4).data() - 1, 6)), ElementsAre(7, last, 0, 0, last, 7)) << "and nothing beside";
  }
}

TEST(CheckExecutable, RefusesDiskLanesBeforeAnythingIsBound) {
  EXPECT_TRUE(check_executable(samples::microbatches()).ok());
  const Status status = check_executable(samples::streamed());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(status.error().message, HasSubstr("segment 'update' has read '', but there are no lanes to the disk"));
}

}  // namespace
}  // namespace plimsoll::runtime
