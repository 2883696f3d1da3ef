#include "plan/offsets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "formats/offsets_csv.h"
#include "plan/offsets_check.h"

namespace plimsoll::plan {
namespace {

using testing::HasSubstr;

OffsetProblem random_problem(uint32_t seed, int count, int64_t alignment = 1) {
  std::mt19937 random(seed);
  OffsetProblem problem;
  for (int i = 0; i < count; ++i) {
    const auto lower = static_cast<int64_t>(random() % 10) - 5;
    const auto upper = lower + 1 + static_cast<int64_t>(random() % (random() % 4 == 0 ? 12 : 4));
    problem.buffers.push_back({lower, upper, static_cast<int64_t>(random() % 9),
                               alignment == 1 ? 1 : 1 + static_cast<int64_t>(random() % alignment)});
  }
  return problem;
}

// The least height over all orders in which buffers can be piled up, each on the highest it shares time with.
int64_t least_height(const OffsetProblem& problem) {
  const auto& buffers = problem.buffers;
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t least = std::numeric_limits<int64_t>::max();
  do {
    std::vector<int64_t> end(buffers.size(), 0);
    int64_t height = 0;
    for (size_t at = 0; at < order.size(); ++at) {
      const Interval& buffer = buffers[order[at]];
      int64_t offset = 0;
      for (size_t below = 0; below < at; ++below) {
        const Interval& other = buffers[order[below]];
        if (buffer.lower < other.upper && other.lower < buffer.upper) offset = std::max(offset, end[order[below]]);
      }
      offset = (offset + buffer.alignment - 1) / buffer.alignment * buffer.alignment;
      end[order[at]] = offset + buffer.size;
      if (buffer.size > 0) height = std::max(height, end[order[at]]);
    }
    least = std::min(least, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

void expect_valid(const OffsetProblem& problem, const OffsetSolution& solution) {
  const OffsetCheck check = check_offsets(problem, solution.offsets, solution.height);
  EXPECT_TRUE(check.ok()) << check.overlaps << " overlaps, " << check.misplaced << " misplaced";
  EXPECT_EQ(check.height, solution.height);
  EXPECT_EQ(check_lower_bound(problem), solution.lower_bound);
  EXPECT_GE(solution.height, solution.lower_bound);
}

OffsetTechniques techniques_of(unsigned bits) {
  const auto on = [&](unsigned bit) { return (bits >> bit & 1) != 0; };
  return {.split_whole = on(0),
          .stack = on(1),
          .greedy = on(2),
          .local_search = on(3),
          .tree_search = on(4),
          .decompose = on(5),
          .twins = on(6),
          .commit_free = on(7),
          .chase_floating = on(8)};
}

OffsetProblem read_problem(const std::string& name) {
  const auto rows = formats::try_read_offsets_csv(std::string(PLIMSOLL_TEST_DATA "/offsets/") + name + ".csv");
  OffsetProblem problem;
  for (const formats::OffsetRow& row : rows.value()) problem.buffers.push_back({row.lower, row.upper, row.size});
  return problem;
}

int64_t height_within(const std::string& name, std::optional<int64_t> capacity) {
  const OffsetProblem problem = read_problem(name);
  const auto solution = try_plan_offsets(problem, {.capacity = capacity});
  if (!solution.ok()) {
    ADD_FAILURE() << name << ": " << solution.error().message;
    return -1;
  }
  expect_valid(problem, *solution);
  return solution->height;
}

TEST(Offsets, EveryCombinationOfTechniquesIsValid) {
  for (unsigned bits = 0; bits < 512; ++bits) {
    for (uint32_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(testing::Message() << "techniques " << bits << " seed " << seed);
      const OffsetProblem problem = random_problem(seed, 5 + static_cast<int>(seed) * 3, seed % 2 == 0 ? 1 : 4);
      const auto solution = try_plan_offsets(problem, {.effort = 300, .techniques = techniques_of(bits)});
      ASSERT_TRUE(solution.ok()) << solution.error().message;
      expect_valid(problem, *solution);
    }
  }
}

TEST(Offsets, TreeSearchAloneFindsAndProvesTheLeastHeight) {
  for (unsigned bits = 0; bits < 16; ++bits) {
    OffsetTechniques techniques = techniques_of(0b000010000 | bits << 5);
    for (uint32_t seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE(testing::Message() << "techniques " << bits << " seed " << seed);
      const OffsetProblem problem = random_problem(seed, 6, seed % 2 == 0 ? 1 : 3);
      const auto solution = try_plan_offsets(problem, {.effort = 100'000, .techniques = techniques});
      ASSERT_TRUE(solution.ok());
      EXPECT_EQ(solution->height, least_height(problem));
      EXPECT_TRUE(solution->proven_least);
    }
  }
}

TEST(Offsets, EqualProblemsGiveEqualOffsets) {
  const OffsetProblem problem = read_problem("C.1048576");
  const OffsetOptions options{.capacity = 1'039'360};
  EXPECT_EQ(try_plan_offsets(problem, options)->offsets, try_plan_offsets(problem, options)->offsets);
}

TEST(Offsets, NestedLifetimesStackToTheLowerBound) {
  OffsetProblem problem;
  for (int64_t i = 0; i < 500; ++i) problem.buffers.push_back({i, 1000 - i, 64 * (1 + i % 7), 64});
  const auto solution = try_plan_offsets(problem);
  expect_valid(problem, *solution);
  EXPECT_EQ(solution->height, solution->lower_bound);
  EXPECT_EQ(solution->nodes, 0);
}

// What a training step looks like: saved activations last into the backward pass, gradients and workspace a few steps.
TEST(Offsets, TrainingStepMeetsTheLowerBound) {
  for (int64_t layers : {12, 200, 600, 1800}) {
    std::mt19937 random(static_cast<uint32_t>(layers));
    OffsetProblem problem{{{0, 4 * layers + 2, 640, 64}}};
    for (int64_t layer = 0; layer < layers; ++layer) {
      const int64_t backward = 4 * layers - 2 * layer;
      const auto some_bytes = [&] { return 64 * (1 + static_cast<int64_t>(random() % 50)); };
      problem.buffers.push_back({2 * layer, backward + 1, some_bytes(), 64});
      problem.buffers.push_back({2 * layer, backward, some_bytes(), 64});
      problem.buffers.push_back({2 * layer, 2 * layer + 2, some_bytes(), 64});
      problem.buffers.push_back({backward - 1, backward + 2, some_bytes(), 64});
      problem.buffers.push_back({backward, backward + 1, some_bytes(), 64});
    }
    const auto solution = try_plan_offsets(problem);
    expect_valid(problem, *solution);
    EXPECT_EQ(solution->height, solution->lower_bound) << layers;
  }
}

TEST(Offsets, SixThousandShortLivedBuffersMeetTheLowerBound) {
  std::mt19937 random(7);
  OffsetProblem problem;
  for (int64_t i = 0; i < 6000; ++i) {
    problem.buffers.push_back(
        {i, i + 2 + static_cast<int64_t>(random() % 9), 64 * (1 + static_cast<int64_t>(random() % 20)), 64});
  }
  const auto solution = try_plan_offsets(problem);
  expect_valid(problem, *solution);
  EXPECT_EQ(solution->height, solution->lower_bound);
}

TEST(Offsets, EmptyAndZeroSizedBuffersNeedNothing) {
  EXPECT_EQ(try_plan_offsets({})->height, 0);
  const auto solution = try_plan_offsets({{{0, 5, 0}, {0, 5, 0}}});
  EXPECT_EQ(solution->height, 0);
  EXPECT_TRUE(solution->proven_least);
}

TEST(Offsets, AnyPackingWithinTheCapacityWillDo) {
  const OffsetProblem problem = random_problem(3, 20);
  const auto solution = try_plan_offsets(problem, {.capacity = int64_t{1} << 40});
  expect_valid(problem, *solution);
  EXPECT_EQ(solution->nodes, 0);
}

TEST(Offsets, CapacityBelowTheBoundIsInfeasible) {
  const auto solution = try_plan_offsets({{{0, 2, 60}, {1, 3, 50}}}, {.capacity = 100});
  ASSERT_FALSE(solution.ok());
  EXPECT_EQ(solution.error().code, ErrorCode::kInfeasible);
  EXPECT_EQ(solution.error().infeasible->needed_bytes, 110);
  EXPECT_EQ(
      solution.error().message,
      "[offsets] capacity 100 bytes cannot be met: every packing needs at least 110 bytes; the lowest found needs 110");
}

TEST(Offsets, SecondsOnlyCutTheSearch) {
  const OffsetProblem problem = read_problem("E.1048576");
  const auto solution = try_plan_offsets(problem, {.seconds = 0.0});
  ASSERT_TRUE(solution.ok());
  expect_valid(problem, *solution);
}

TEST(Offsets, RefusesBuffersThatMakeNoSense) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const std::pair<Interval, const char*> cases[] = {
      {{5, 5, 1}, "[offsets] buffer 1 has lifetime [5, 5); the end must be after the start"},
      {{0, 1, -1}, "buffer 1 has size -1; expected 0 or more"},
      {{0, 1, 1, 0}, "buffer 1 has alignment 0; expected 1 or more"},
      {{0, 1, kMost}, "buffer 1 makes the sizes sum to more than 2^60 bytes"},
      {{0, 1, 1, kMost}, "buffer 1 makes the sizes sum to more than 2^60 bytes"},
  };
  for (const auto& [buffer, message] : cases) {
    const auto solution = try_plan_offsets({{{0, 1, 1}, buffer}});
    ASSERT_FALSE(solution.ok());
    EXPECT_THAT(solution.error().message, HasSubstr(message));
  }
}

TEST(OffsetCheck, CountsOverlapsAndMisplacedOffsets) {
  const OffsetProblem problem{{{0, 4, 2}, {0, 2, 3, 2}, {2, 4, 3}}};
  EXPECT_TRUE(check_offsets(problem, std::vector<int64_t>{0, 2, 2}, 5).ok());
  EXPECT_EQ(check_offsets(problem, std::vector<int64_t>{0, 0, 1}, 5).overlaps, 2);
  EXPECT_EQ(check_offsets(problem, std::vector<int64_t>{-1, 3, 2}, 5).misplaced, 2);
  EXPECT_FALSE(check_offsets(problem, std::vector<int64_t>{0, 2}, 5).ok());
  EXPECT_EQ(check_lower_bound(problem), 5);
}

TEST(OffsetData, PublishedHardProblemsFitTheirCapacity) {
  for (const char* name : {"A", "B", "C", "D", "F"}) {
    EXPECT_LE(height_within(std::string(name) + ".1048576", 1'048'576), 1'048'576) << name;
  }
  EXPECT_EQ(height_within("C.1048576", 1'039'360), 1'039'360);
}

// The first has more than 1,000 buffers, so its core is packed first.
TEST(OffsetData, RealGraphsReachTheirLowerBound) {
  EXPECT_EQ(height_within("somas_resnet50", {}), 1'515'472'556);
  EXPECT_EQ(height_within("iopddl_G_1", {}), 3'030'937'746);
}

// About 3 s of search, so it runs as the test plan_slow.
TEST(OffsetData, DISABLED_HardestPublishedProblemFitsItsCapacity) {
  EXPECT_EQ(height_within("E.1048576", 1'048'576), 1'048'576);
}

}  // namespace
}  // namespace plimsoll::plan
