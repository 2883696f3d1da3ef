#include "engine/training/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "formats/file_writer.h"

namespace plimsoll::engine {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest() { fs::remove_all(path_); }
  ~RunFolderTest() override { fs::remove_all(path_); }
  void write(const std::string& name) const { formats::try_write_file(path_ + "/" + name, "text").value(); }

  std::string path_ = testing::TempDir() + "/plimsoll_run_folder";
};

TEST_F(RunFolderTest, DiscardsWhatItMade) {
  RunFolder folder = RunFolder::try_begin(path_).value();
  write("run.toml");
  folder.discard();
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(RunFolderTest, EmptiesAFolderThatWasThereAndKeepsIt) {
  fs::create_directories(path_);
  RunFolder folder = RunFolder::try_begin(path_).value();
  write("run.toml");
  folder.discard();
  EXPECT_TRUE(fs::is_empty(path_));
}

TEST_F(RunFolderTest, BeginsInNoFolderThatHoldsFiles) {
  fs::create_directories(path_);
  write("mine.txt");
  const auto folder = RunFolder::try_begin(path_);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(folder.error().message, testing::HasSubstr("give --resume to continue it"));
  EXPECT_TRUE(fs::exists(path_ + "/mine.txt"));
  EXPECT_TRUE(RunFolder::try_continue(path_).ok());
}

TEST_F(RunFolderTest, KeepsOthersOutForAsLongAsItLives) {
  std::optional<RunFolder> folder = RunFolder::try_begin(path_).value();
  EXPECT_EQ(RunFolder::try_begin(path_).error().code, ErrorCode::kIo);
  EXPECT_EQ(RunFolder::try_continue(path_).error().code, ErrorCode::kIo);
  folder.reset();
  EXPECT_TRUE(RunFolder::try_continue(path_).ok());
}

TEST_F(RunFolderTest, ContinuesOnlyWhatIsThere) {
  EXPECT_EQ(RunFolder::try_continue(path_).error().message, "there is no run folder '" + path_ + "' to resume");
  EXPECT_FALSE(fs::exists(path_));
}

}  // namespace
}  // namespace plimsoll::engine
