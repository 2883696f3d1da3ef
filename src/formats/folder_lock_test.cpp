#include "formats/folder_lock.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

namespace plimsoll::formats {
namespace {

TEST(FolderLock, IsHeldByOneAndFreeAgainAfterwards) {
  const std::string folder = testing::TempDir() + "folder_lock_test";
  std::filesystem::create_directories(folder);
  auto first = FolderLock::try_take(folder);
  ASSERT_TRUE(first.ok());
  std::optional<FolderLock> held(*std::move(first));
  const auto second = FolderLock::try_take(folder);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, "another process uses the folder '" + folder + "'; wait until it has ended");
  held.reset();
  EXPECT_TRUE(FolderLock::try_take(folder).ok());
}

TEST(FolderLock, NamesAFolderThatIsNotThere) {
  const auto lock = FolderLock::try_take("/nowhere/at/all");
  ASSERT_FALSE(lock.ok());
  EXPECT_EQ(lock.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace plimsoll::formats
