#include "formats/offsets_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::formats {
namespace {

using testing::HasSubstr;

TEST(OffsetsCsv, ReadsRowsWithSpacesAndEmptyLines) {
  const auto rows = try_parse_offsets_csv("id,lower,upper,size\r\n a , -3, 4 ,16\n\nb,0,1,0", "x.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_THAT(*rows, testing::ElementsAre(OffsetRow{"a", -3, 4, 16}, OffsetRow{"b", 0, 1, 0}));
}

TEST(OffsetsCsv, NamesTheLineAndTheFaultOfEveryDamage) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "x.csv: empty"},
      {"id,lower,size,upper\n", "x.csv:1: the first line must be"},
      {"id,lower,upper,size\na,1,2\n", "x.csv:2: 3 fields; expected 4"},
      {"id,lower,upper,size\na,1,2,3,4\n", "x.csv:2: 5 fields"},
      {"id,lower,upper,size\na,1,2,3\n\nb,1,2,three\n", "x.csv:4: size is 'three'; expected an integer"},
      {"id,lower,upper,size\na,1.5,2,3\n", "lower is '1.5'"},
      {"id,lower,upper,size\na,1,,3\n", "upper is ''"},
      {"id,lower,upper,size\na,1,99999999999999999999,3\n", "expected an integer of at most 64 bits"},
      {"id,lower,upper,size\na,2,2,3\n", "lifetime [2, 2) is empty"},
      {"id,lower,upper,size\na,1,2,-3\n", "size is -3; expected 0 or more"},
      {"id,lower,upper,size\n,1,2,3\n", "the id is empty"},
      {"id,lower,upper,size\na,1,2,3\na,1,2,3\n", "x.csv:3: id 'a' occurs twice"},
      {"id,lower,upper,size\na,1,2," + std::string(500, 'x') + "\n", "xxx...'"},
  };
  for (const auto& [text, message] : cases) {
    const auto rows = try_parse_offsets_csv(text, "x.csv");
    ASSERT_FALSE(rows.ok()) << text;
    EXPECT_THAT(rows.error().message, HasSubstr(message));
    EXPECT_EQ(rows.error().message.find('\n'), std::string::npos);
  }
}

TEST(OffsetsCsv, AByteOrderMarkInFrontIsNoPartOfTheHeader) {
  const auto rows = try_parse_offsets_csv("\xEF\xBB\xBFid,lower,upper,size\na,1,2,3\n", "x.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->size(), 1U);
}

TEST(OffsetsCsv, MissingFileIsAnIoError) {
  const auto rows = try_read_offsets_csv("/nowhere/problem.csv");
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace plimsoll::formats
