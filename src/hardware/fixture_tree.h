#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "hardware/system_files.h"

namespace plimsoll::hardware {

/// For tests: a folder that stands in for the machine's /proc and /sys, removed at the end.
class FixtureTree {
 public:
  FixtureTree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "plimsoll-fixture-XXXXXX").string();
    root_.prefix = mkdtemp(pattern.data());
  }
  ~FixtureTree() { std::filesystem::remove_all(root_.prefix); }
  FixtureTree(const FixtureTree&) = delete;
  FixtureTree& operator=(const FixtureTree&) = delete;

  void write(const std::string& absolute, const std::string& text) {
    const std::filesystem::path path = root_.path(absolute);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  const SystemRoot& root() const { return root_; }

 private:
  SystemRoot root_;
};

}  // namespace plimsoll::hardware
