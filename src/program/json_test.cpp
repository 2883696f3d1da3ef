#include "program/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "program/sample_programs.h"
#include "program/structure.h"
#include "program/text.h"

namespace plimsoll::program {
namespace {

/// Every field away from its default.
Program with_every_field() {
  Program p = samples::streamed();
  p.name = "quo\"te \\ \n ü";
  p.compile_hash = "cafe";
  TensorDesc blocked{DType::kBF16, Shape{2, 9, 4, 4}, {}};
  blocked.layout.is_permuted = true;
  blocked.layout.order = {0, 2, 3, 1};
  blocked.layout.blocks[0] = {1, 8};
  blocked.layout.blocks[1] = {0, 2};
  p.kernels.push_back({"odd",
                       {{"flag", true},
                        {"count", int64_t{std::numeric_limits<int64_t>::min()}},
                        {"one", 1.0},
                        {"tenth", 0.1},
                        {"tiny", 5e-324},
                        {"limit", std::numeric_limits<double>::infinity()},
                        {"floor", -std::numeric_limits<double>::infinity()},
                        {"text", "a\tb"},
                        {"none", std::vector<int64_t>{}},
                        {"axes", std::vector<int64_t>{0, -1}}},
                       {blocked, {DType::kI64, Shape{}, {}}},
                       {{DType::kBool, Shape{0, 3}, {}}},
                       {0},
                       1LL << 40,
                       {{0, 1}, {0, 0}}});
  p.residences[1].space = Space::kPmem;
  p.segments[1].trips = 1LL << 40;
  p.segments[2].instructions[4].waits.push_back({Lane::kDiskWrite, 0, true});
  p.segments[2].instructions[4].when = When::kLast;
  p.segments[2].instructions[4].reason = "the link is idle here";
  p.segments.push_back({"empty", 7, {}});
  p.arena_bytes = {1, 2, 3, std::numeric_limits<int64_t>::max()};
  return p;
}

TEST(ProgramJson, RoundTripsEveryField) {
  for (const Program& program :
       {Program{}, samples::single_segment(), samples::microbatches(), samples::streamed(), with_every_field()}) {
    const std::string text = to_json(program);
    const auto parsed = try_parse_program(text);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message << "\n" << text;
    EXPECT_EQ(*parsed, program) << text;
    EXPECT_EQ(to_json(*parsed), text);
  }
}

TEST(ProgramJson, PutsOneInstructionOnALine) {
  const std::string before = to_json(samples::microbatches());
  Program changed = samples::microbatches();
  changed.segments[1].instructions[2].label = "other";
  const std::string after = to_json(changed);
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  EXPECT_EQ(lines(before), lines(after));
  EXPECT_NE(after.find("\n {\"lane\":\"compute\",\"kind\":\"compute\",\"kernel\":1,"), std::string::npos) << after;
}

TEST(ProgramJson, NamesTheFieldThatIsWrong) {
  const std::string good = to_json(samples::microbatches());
  const std::tuple<std::string, std::string, std::string> cases[] = {
      {"\"format_version\":2", "\"format_version\":1", "format_version is not 2"},
      {"\"compile_hash\"", "\"compile_hush\"", "has no 'compile_hash'"},
      {"\"trips\":4", "\"trips\":0", "segments[1].trips is 0"},
      {"\"trips\":4", "\"trips\":4.5", "segments[1].trips is no integer"},
      {"\"trips\":4", "\"trips\":1e300", "segments[1].trips is no integer"},
      {"\"trips\":4", "\"trips\":18446744073709551615", "segments[1].trips is no integer"},
      {"\"kernel\":3", "\"kernel\":5", "segments[1].instructions[4].kernel is 5; expected 0..4"},
      {"\"kernel\":3", "\"kernels\":3", "segments[1].instructions[4] has an unknown key 'kernels'"},
      {"[5,0,128,0,\"workspace\"]", "[7,0,128,0,\"workspace\"]",
       "segments[1].instructions[2].operands[3].residence is 7"},
      {"[5,0,128,0,\"workspace\"]", "[5,0,129,0,\"workspace\"]", "operands[3] covers bytes [0,129)"},
      {"[5,0,128,0,\"workspace\"]", "[5,0,128,-1,\"workspace\"]", "operands[3].version is -1"},
      {"[5,0,128,0,\"workspace\"]", "[5,0,128,0,\"scratch\"]", "operands[3][4] is 'scratch', which does not exist"},
      {"[5,0,128,0,\"workspace\"]", "[5,0,128,0]", "operands[3] is no list of the right length"},
      {"[\"compute\",0,\"previous\"]", "[\"compute\",4,\"previous\"]",
       "segments[1].instructions[0].waits[0].index is 4; expected 0..3"},
      {"[\"compute\",0,\"previous\"]", "[\"compute\",0,\"next\"]", "waits[0][2] is not 'previous'"},
      {"\"live\":[1,1,1,4]", "\"live\":[1,1,1,6]", "residences[3].last.index is 6; expected 0..5"},
      {"\"live\":[1,1,1,4]", "\"live\":[1,1,1,0]", "residences[3].last comes before its first"},
      {"\"slots\":2", "\"slots\":0", "residences[2].slots is 0"},
      {"\"stride_bytes\":256", "\"stride_bytes\":255", "residences[2].stride_bytes is less than one slot"},
      {"\"stride_bytes\":256", "\"stride_bytes\":9223372036854775807",
       "residences[2] ends at an address that overflows"},
      {"\"offset_bytes\":832", "\"offset_bytes\":9223372036854775807",
       "residences[3] ends at an address that overflows"},
      {"\"buffer\":4", "\"buffer\":-1", "residences[4].buffer is -1"},
      {"\"size_bytes\":128", "\"size_bytes\":-128", "buffers[5].size_bytes is -128"},
      {"\"category\":\"input\"", "\"category\":\"inputs\"", "buffers[2].category is 'inputs'"},
      {"\"shape\":[64]", "\"shape\":[-64]", "kernels[0].srcs[0] has no sound size"},
      {"\"shape\":[64]", "\"shape\":[4611686018427387904,4]", "kernels[0].srcs[0] has no sound size"},
      {"\"shape\":[64]", "\"shape\":[1,1,1,1,1,1,1,1,1]", "kernels[0].srcs[0].shape is no list"},
      {"\"dtype\":\"f32\"", "\"dtype\":\"f99\"", "kernels[0].srcs[0].dtype is 'f99'"},
      {"\"accumulated_dsts\":[0]", "\"accumulated_dsts\":[1]", "kernels[1].accumulated_dsts[0] is 1; expected 0..0"},
      {"\"exit_state\":[\n [0,1]", "\"exit_state\":[\n [9,1]", "exit_state[0].residence is 9"},
      {"\"in_place\":[[0,0]]", "\"in_place\":[[1,0]]", "kernels[3].in_place[0].dst is 1; expected 0..0"},
      {"\"in_place\":[[0,0]]", "\"in_place\":[[0,3]]", "kernels[3].in_place[0].src is 3; expected 0..2"},
      {"[\"norm\",6,0,4,1]", "[\"norm\",7,0,4,1]", "outputs[0].residence is 7; expected 0..6"},
      {"[\"norm\",6,0,4,1]", "[\"norm\",6,0,5,1]", "outputs[0] covers bytes [0,5); expected a range in [0,4)"},
      {"[\"norm\",6,0,4,1]", "[\"norm\",6,0,4,-1]", "outputs[0].version is -1"},
      {"\"outputs\"", "\"output\"", "has no 'outputs'"},
      {"\"host\":1472", "\"host\":-1", "arena_bytes[1] is -1"},
      {"{\"format_version\"", "[\"format_version\"", "the text is no JSON"},
  };
  for (const auto& [from, to, message] : cases) {
    std::string text = good;
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    const auto result = try_parse_program(text);
    ASSERT_FALSE(result.ok()) << to;
    EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(result.error().message.find(message), std::string::npos) << result.error().message << "\n" << message;
  }
}

TEST(ProgramJson, SurvivesDamagedText) {
  const std::string good = to_json(with_every_field());
  std::mt19937 random(20240607);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random() % 256); break;
        case 1: text.erase(at, 1 + random() % 8); break;
        case 2: text.insert(at, 1, "0123456789-[]{}\",:e."[random() % 20]); break;
        default: text.resize(at + 1);
      }
    }
    const auto result = try_parse_program(text);
    if (!result.ok()) continue;
    ++accepted;
    EXPECT_TRUE(check_structure(*result).ok());
    EXPECT_TRUE(try_parse_program(to_json(*result)).ok()) << text;
    EXPECT_FALSE(to_text(*result).empty());
  }
  EXPECT_LT(accepted, 2000);
}

}  // namespace
}  // namespace plimsoll::program
