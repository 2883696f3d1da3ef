#include "engine/checkpoint/same_run.h"

#include <gtest/gtest.h>

#include <vector>

namespace plimsoll::engine {
namespace {

using Origin = DataFile::Origin;

TEST(SameFiles, TheFirstThatIsNotWhatItWasIsNamedWithWhatToDo) {
  std::vector<DataFile> files{{"training tokens", "run/train.bin", 0xabcd, Origin::kMadeBefore}};
  const std::map<std::string, uint32_t> then{{"training tokens", 0x12345678}};
  const std::string start =
      "run/train.bin does not hold the training tokens that the run began with (checksum 0000abcd, then 12345678): it "
      "is damaged or was changed; ";
  const auto message = [&] { return check_same_files(then, files).error().message; };
  EXPECT_EQ(check_same_files(then, files).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(message(), start + "remove it, and resuming makes it again from the text");
  files[0].origin = Origin::kGiven;
  EXPECT_EQ(message(), start + "put back the file that the run began with, or begin another run");
  files[0].origin = Origin::kMadeNow;
  EXPECT_EQ(message(), start + "this program or its libraries make another one from the same text; begin another run");
  EXPECT_TRUE(check_same_files(checksums_of(files), files).ok());
}

TEST(SameFiles, WhatTheRunKeptNothingOfIsNoFault) {
  const std::vector<DataFile> files{{"validation tokens", "valid.bin", 1, Origin::kGiven}};
  EXPECT_TRUE(check_same_files({}, files).ok());
}

TEST(SameSettings, NamesTheFirstThatChangedWithBothValues) {
  EXPECT_EQ(check_same_settings({{"a", "1"}, {"b", "2"}, {"c", "3"}}, {{"a", "1"}, {"b", "4"}, {"c", "5"}, {"d", "6"}})
                .error()
                .message,
            "the run began with b = '2', it is now '4'; resume with what it began with, or begin another run");
  EXPECT_TRUE(check_same_settings({{"a", "1"}}, {{"a", "1"}, {"d", "6"}}).ok());
}

}  // namespace
}  // namespace plimsoll::engine
