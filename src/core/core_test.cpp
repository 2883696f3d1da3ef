#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/attributes.h"
#include "core/bytes.h"
#include "core/layout.h"
#include "core/philox.h"
#include "core/shape.h"
#include "core/suggest.h"
#include "core/thread_pool.h"
#include "core/tiers.h"

namespace plimsoll {
namespace {

TEST(ParseBytes, AcceptsTheUnitsPeopleType) {
  EXPECT_EQ(try_parse_bytes("2GiB").value().value, int64_t{2} << 30);
  EXPECT_EQ(try_parse_bytes("2GB").value().value, 2'000'000'000);
  EXPECT_EQ(try_parse_bytes("2048M").value().value, int64_t{2048} << 20);
  EXPECT_EQ(try_parse_bytes(" 1.5 g ").value().value, int64_t{1536} << 20);
  EXPECT_EQ(try_parse_bytes("12345").value().value, 12345);
}

TEST(ParseBytes, RefusesWhatIsNoSize) {
  for (const char* text : {"2 apples", "", "GiB", "-1G", "1e30", "99999999999TiB", "nan", "2GiBs", "2 i"}) {
    const auto result = try_parse_bytes(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_NE(result.error().message.find("2GiB"), std::string::npos) << result.error().message;
  }
}

TEST(ParseBytes, SaysWhatIsWrongWithIt) {
  for (const auto& [text, why] : {std::pair("nanGiB", "' is no number;"), std::pair("inf", "' is no number;"),
                                  std::pair("1e999", "' is no number with a known unit;"),
                                  std::pair("-1G", "' is negative;"), std::pair("99999999999TiB", "' is too large;")})
    EXPECT_NE(try_parse_bytes(text).error().message.find(why), std::string::npos) << text;
  EXPECT_NE(try_parse_bytes(std::string(400, '9')).error().message.find("' is too large;"), std::string::npos);
}

TEST(Shape, BroadcastsLikeNumpy) {
  EXPECT_EQ(try_broadcast({4, 1, 3}, {5, 1}), (Shape{4, 5, 3}));
  EXPECT_EQ(try_broadcast({}, {7}), (Shape{7}));
  EXPECT_EQ(try_broadcast({0}, {1}), (Shape{0}));
  EXPECT_FALSE(try_broadcast({2}, {3}).has_value());
}

TEST(Shape, NumelOverflowIsNothing) {
  EXPECT_FALSE((Shape{int64_t{1} << 32, int64_t{1} << 32}).try_numel().has_value());
  EXPECT_FALSE((Shape{-1}).try_numel().has_value());
  EXPECT_EQ((Shape{}).numel(), 1);
}

TEST(Layout, PadsAnAxisToTheProductOfItsBlocks) {
  EXPECT_EQ(stored_numel({5, 3}, {.blocks = {{{0, 4}, {0, 8}}}}), 32 * 3);
  EXPECT_EQ(stored_numel({5, 3}, {.blocks = {{{0, 4}, {1, 2}}}}), 8 * 4);
  EXPECT_FALSE(try_stored_numel({std::numeric_limits<int64_t>::max()}, {.blocks = {{{0, 4}, {}}}}).has_value());
}

TEST(Quote, KeepsTextOnOneLine) {
  EXPECT_EQ(quote(std::string_view("a\"\\\n\t\r\0\x7f é", 11)), R"("a\"\\\n\t\x0d\x00\x7f é")");
  EXPECT_EQ(to_string(Attributes{{"a b", int64_t{1}}, {"c_1", int64_t{2}}}), R"({"a b"=1, c_1=2})");
}

// Known answers of the authors' reference implementation (Random123, kat_vectors, philox4x32 10).
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(Philox(0)(0, 0), (Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox(~uint64_t{0})(~uint64_t{0}, ~uint64_t{0}),
            (Philox::Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Suggest, NamesTheNearest) {
  const std::vector<std::string> names{"batch_size", "seq_len", "seed"};
  EXPECT_EQ(suggest("batchsize", names), "; did you mean 'batch_size'?");
  EXPECT_EQ(suggest("zzzzzzzz", names), "");
}

TEST(Suggest, NamesWhatBeginsAlike) {
  const std::vector<std::string> names{"gpt2-124m", "gpt2-355m", "batch", "temperature", "seed", "h"};
  for (const auto& [wrong, near] :
       {std::pair("gpt2", "gpt2-124m"), std::pair("gpt3", "gpt2-124m"), std::pair("gpt2-35", "gpt2-355m"),
        std::pair("temp", "temperature"), std::pair("b", "batch"), std::pair("se", "seed")})
    EXPECT_EQ(suggest(wrong, names), std::string("; did you mean '") + near + "'?");
}

TEST(Suggest, NothingIsNearToWhatHasNothingInCommon) {
  const std::vector<std::string> names{"h", "lr", "ram", "train"};
  for (const char* wrong : {"", "3", "x", "xy", "-"}) EXPECT_EQ(find_nearest(wrong, names), nullptr) << wrong;
  EXPECT_EQ(find_nearest("rl", std::vector<std::string>{"lr"}), nullptr) << "as many edits as characters";
}

TEST(Space, NamesGoBothWays) {
  for (int i = 0; i < kSpaceCount; ++i)
    EXPECT_EQ(try_parse_space(to_string(static_cast<Space>(i))), static_cast<Space>(i));
  EXPECT_FALSE(try_parse_space("tape").has_value());
}

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 200; ++round) {
      std::vector<int> hits(37, 0);
      pool.run(37, [&](int64_t task, int) { ++hits[static_cast<size_t>(task)]; });
      EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), 0), 37);
      EXPECT_EQ(*std::min_element(hits.begin(), hits.end()), 1);
    }
  }
}

TEST(ThreadPoolDeathTest, RefusesToRunWithinATask) {
  for (const int threads : {1, 2}) {
    const auto nest = [threads] {
      ThreadPool pool(threads);
      pool.run(2, [&](int64_t, int) { pool.run(1, [](int64_t, int) {}); });
    };
    EXPECT_DEATH(nest(), "a task runs tasks");
  }
}

TEST(Philox, NormalsAreThoseOfTheLibrarysFunctions) {
  EXPECT_EQ(log_of_share(uint64_t{1} << 32), 0);
  const Philox random(5);
  for (uint64_t i = 0; i < 20'000; ++i) {
    auto [a, b, c, d] = random(i, 0);
    if (i < 8) a = static_cast<uint32_t>(i < 4 ? i : -i);          // the ends of the logarithm
    if (i < 64) b = static_cast<uint32_t>((i << 26) + i % 3 - 1);  // quarters and eighths of the circle
    const double share = (static_cast<double>(a) + 1) * 0x1p-32;
    EXPECT_NEAR(log_of_share(uint64_t{a} + 1), std::log(share), 1e-10) << a;
    const double angle = 2 * std::numbers::pi * static_cast<double>(b) * 0x1p-32;
    EXPECT_NEAR(circle_point(b)[0], std::cos(angle), 1e-10) << b;
    EXPECT_NEAR(circle_point(b)[1], std::sin(angle), 1e-10) << b;
  }
}

}  // namespace
}  // namespace plimsoll
