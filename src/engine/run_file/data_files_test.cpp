#include "engine/run_file/data_files.h"

#include <gtest/gtest.h>

namespace plimsoll::engine {
namespace {

TEST(DataFiles, TheFirstThatIsNotWhatItWasIsNamedWithWhatToDo) {
  const DataFiles files{{kTrainingTokens, {"run/train.bin", 0x12345678, true}}, {kTokenizer, {"my.model", 7, false}}};
  const auto then = checksums_of(files);
  EXPECT_TRUE(check_same_files(then, files).ok());

  DataFiles damaged = files;
  damaged[kTrainingTokens].checksum = 0xabcd;
  EXPECT_EQ(check_same_files(then, damaged).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(check_same_files(then, damaged).error().message,
            "run/train.bin does not hold the training tokens that the run began with (checksum 0000abcd, then "
            "12345678): it is damaged or was changed; remove it, and resuming makes it again from the text");
  damaged = files;
  damaged[kTokenizer].checksum = 8;
  EXPECT_EQ(check_same_files(then, damaged).error().message,
            "my.model does not hold the tokenizer that the run began with (checksum 00000008, then 00000007): it is "
            "damaged or was changed; put back the file that the run began with, or begin another run");
}

TEST(DataFiles, AFileThatTheRunDidNotHaveIsNoFault) {
  const DataFiles files{{kValidationTokens, {"valid.bin", 1, false}}};
  EXPECT_TRUE(check_same_files({}, files).ok());
}

}  // namespace
}  // namespace plimsoll::engine
