#include "plan/early_release.h"

#include <gmock/gmock.h>

namespace plimsoll::plan {
namespace {

using program::Kind;
using program::Role;
using ::testing::ElementsAre;

constexpr int64_t kBytes = 64;

Use use(int buffer, int version, Role role) { return {buffer, 0, kBytes, version, role}; }
Use read(int buffer, int version = 1) { return use(buffer, version, Role::kRead); }
Use write(int buffer) { return use(buffer, 1, Role::kWrite); }
Use update(int buffer) { return use(buffer, 1, Role::kUpdate); }

enum Buffer { kParam0, kParam1, kGrad0, kGrad1, kLoss, kScale, kHidden };

ProblemInstruction compute(std::string label, std::vector<Use> uses) {
  return {.kernel = 0, .uses = std::move(uses), .label = std::move(label)};
}

/// Two layers: the loss reads both parameters, its gradient goes back through layer 1 and layer 0, then both update.
Problem two_layers() {
  Problem p{.name = "two layers"};
  p.buffers = {{.name = "w0", .size_bytes = kBytes, .is_state = true},
               {.name = "w1", .size_bytes = kBytes, .is_state = true},
               {.name = "g0", .size_bytes = kBytes},
               {.name = "g1", .size_bytes = kBytes},
               {.name = "loss", .size_bytes = kBytes},
               {.name = "scale", .size_bytes = kBytes},
               {.name = "hidden", .size_bytes = kBytes}};
  p.segments = {{"step",
                 1,
                 {compute("loss", {read(kParam0, 0), read(kParam1, 0), write(kLoss)}),
                  {.kind = Kind::kCheck, .uses = {read(kLoss)}, .label = "check"},
                  compute("d_w1", {read(kLoss), write(kGrad1)}),
                  compute("d_hidden", {read(kLoss), read(kParam1, 0), write(kHidden)}),
                  compute("d_w0", {read(kHidden), write(kGrad0)}),
                  compute("update w0", {read(kParam0, 0), read(kGrad0), update(kParam0)}),
                  compute("update w1", {read(kParam1, 0), read(kGrad1), update(kParam1)})}}};
  return p;
}

std::vector<std::string> labels(const Problem& problem) {
  std::vector<std::string> out;
  for (const ProblemSegment& segment : problem.segments)
    for (const ProblemInstruction& instruction : segment.instructions) out.push_back(instruction.label);
  return out;
}

TEST(EarlyRelease, UpdatesAParameterBehindItsLastReadAndItsGradient) {
  EXPECT_THAT(labels(release_early(two_layers())),
              ElementsAre("loss", "check", "d_w1", "d_hidden", "update w1", "d_w0", "update w0"));
}

TEST(EarlyRelease, WritesNoStateBeforeACheck) {
  Problem p = two_layers();
  auto& list = p.segments[0].instructions;
  std::rotate(list.begin() + 1, list.begin() + 2, list.begin() + 5);  // the check comes when all gradients are there
  EXPECT_THAT(labels(release_early(p)),
              ElementsAre("loss", "d_w1", "d_hidden", "d_w0", "check", "update w1", "update w0"));
}

TEST(EarlyRelease, WaitsForWhatIsMadeOfAllGradients) {
  Problem p = two_layers();
  auto& list = p.segments[0].instructions;
  list.insert(list.begin() + 5, compute("norm", {read(kGrad0), read(kGrad1), write(kScale)}));
  list[6].uses.push_back(read(kScale));
  list[7].uses.push_back(read(kScale));
  EXPECT_THAT(labels(release_early(p)),
              ElementsAre("loss", "check", "d_w1", "d_hidden", "d_w0", "norm", "update w1", "update w0"));
}

TEST(EarlyRelease, LeavesWhatTheHostReadsAndLoops) {
  Problem kept = two_layers();
  kept.outputs = {{"g1", read(kGrad1)}};
  EXPECT_EQ(labels(release_early(kept)), labels(kept));
  Problem looping = two_layers();
  looping.segments[0].trips = 2;
  EXPECT_EQ(labels(release_early(looping)), labels(looping));
}

}  // namespace
}  // namespace plimsoll::plan
