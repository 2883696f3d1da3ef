#include "program/text.h"

#include <gmock/gmock.h>

#include "program/sample_programs.h"

namespace plimsoll::program {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ProgramText, ShowsInstructionsWithOperandsWaitsAndReasons) {
  const std::string text = to_text(samples::microbatches()) + to_text(samples::single_segment());
  EXPECT_THAT(text, HasSubstr("segment 'microbatch' × 4\n"
                              "   0 host_to_device feed 'x' writes 'x' v1 [0,256) host@320+2×256; "
                              "waits for compute 0 of the previous iteration\n"));
  EXPECT_THAT(text, HasSubstr("   4 compute sgd 'w.update' (last) reads 'w' v0 [0,256) host@0; "));
  EXPECT_THAT(text, HasSubstr("   4 compute check 'loss' reads 'loss' v1 [0,4) host@512 — a loss that is not finite"));
  EXPECT_THAT(text, HasSubstr("   1 matmul_grad (f32[64], f32[64]) -> (f32[64]) adds into 0 workspace 128\n"));
  EXPECT_THAT(text, HasSubstr("   3 'y' [0,256) host@832 live 1:1..1:4\n"));
  EXPECT_THAT(text, HasSubstr("   1 relu (f32[64]) -> (f32[64]) in place 0 over 0\n"));
  EXPECT_THAT(text, HasSubstr("outputs\n   0 'norm' is 'norm' v1 [0,4) host@832\n"
                              "   1 'half of dw' is 'dw' v2 [128,256) host@1088\n"));
  EXPECT_THAT(text, HasSubstr("arena host 1472 bytes\n"));
}

TEST(ProgramText, PrintsAProgramWithWrongIndices) {
  Program program = samples::single_segment();
  program.residences[0].buffer = 99;
  program.segments[0].instructions[0].operands[0].residence = -3;
  EXPECT_THAT(to_text(program), HasSubstr("feed 'x' writes residence -3?"));
}

TEST(When, RunsAsOftenAsItIsCounted) {
  EXPECT_EQ(count_runs(When::kNotFirst, 4), 3);
  for (int when = 0; when < kWhenCount; ++when)
    for (const int64_t trips : {1, 2, 5}) {
      int64_t runs = 0;
      for (int64_t i = 0; i < trips; ++i) runs += runs_in(static_cast<When>(when), i, trips) ? 1 : 0;
      EXPECT_EQ(runs, count_runs(static_cast<When>(when), trips)) << when << " of " << trips;
    }
}

TEST(ProgramDiff, OfEqualProgramsIsEmpty) { EXPECT_THAT(diff(samples::streamed(), samples::streamed()), IsEmpty()); }

TEST(ProgramDiff, OfOneMoreInstructionIsOneLine) {
  const Program a = samples::microbatches();
  Program b = a;
  b.segments[1].instructions.insert(b.segments[1].instructions.begin() + 2, {.kind = Kind::kZero, .label = "extra"});
  EXPECT_THAT(diff(a, b), ElementsAre(Difference{"segment 'microbatch' × 4", true, "compute zero 'extra'"}));
  EXPECT_THAT(diff(b, a), ElementsAre(Difference{"segment 'microbatch' × 4", false, "compute zero 'extra'"}));
}

TEST(ProgramDiff, ShowsBothSidesOfAChangeAndWholeSegments) {
  const Program a = samples::microbatches();
  Program b = a;
  b.residences[3].offset_bytes = 896;
  b.segments[1].trips = 8;
  b.segments.pop_back();
  std::vector<std::string> lines;
  for (const Difference& difference : diff(a, b))
    lines.push_back((difference.is_added ? "+ " : "- ") + difference.line);
  EXPECT_THAT(lines, ::testing::Contains("- 'y' [0,256) host@832 live 1:1..1:4"));
  EXPECT_THAT(lines, ::testing::Contains("+ 'y' [0,256) host@896 live 1:1..1:4"));
  EXPECT_THAT(lines, ::testing::Contains("+ segment 'microbatch' × 8"));
  EXPECT_THAT(lines, ::testing::Contains("- segment 'norm' × 1"));
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("- compute sum_of_squares 'norm'")));
}

}  // namespace
}  // namespace plimsoll::program
