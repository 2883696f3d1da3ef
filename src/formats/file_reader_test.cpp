#include "formats/file_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace plimsoll::formats {
namespace {

TEST(TryExists, TellsAMissingFileFromOneThatCannotBeLookedAt) {
  const std::string folder = testing::TempDir() + "/plimsoll_formats_exists";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/file") << "bytes";
  std::filesystem::create_symlink("loop", folder + "/loop");
  EXPECT_TRUE(try_exists(folder).value());
  EXPECT_TRUE(try_exists(folder + "/file").value());
  EXPECT_FALSE(try_exists(folder + "/absent").value());
  EXPECT_FALSE(try_exists(folder + "/file/below").value());
  const auto loop = try_exists(folder + "/loop");
  ASSERT_FALSE(loop.ok());
  EXPECT_EQ(loop.error().code, ErrorCode::kIo);
  EXPECT_NE(loop.error().message.find(folder + "/loop"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::formats
