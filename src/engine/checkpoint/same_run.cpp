#include "engine/checkpoint/same_run.h"

#include <fmt/format.h>

namespace plimsoll::engine {
namespace {

const char* advice(DataFile::Origin origin) {
  switch (origin) {
    case DataFile::Origin::kGiven: return "put back the file that the run began with, or begin another run";
    case DataFile::Origin::kMadeBefore: return "remove it, and resuming makes it again from the text";
    case DataFile::Origin::kMadeNow: break;
  }
  return "this program or its libraries make another one from the same text; begin another run";
}

}  // namespace

std::map<std::string, uint32_t> checksums_of(std::span<const DataFile> files) {
  std::map<std::string, uint32_t> out;
  for (const DataFile& file : files) out[file.what] = file.checksum;
  return out;
}

Status check_same_files(const std::map<std::string, uint32_t>& then, std::span<const DataFile> now) {
  for (const DataFile& file : now) {
    const auto before = then.find(file.what);
    if (before == then.end() || before->second == file.checksum) continue;
    return corrupt(
        fmt::format("{} does not hold the {} that the run began with (checksum {:08x}, then {:08x}): it is "
                    "damaged or was changed; {}",
                    file.path, file.what, file.checksum, before->second, advice(file.origin)));
  }
  return {};
}

Status check_same_settings(const std::map<std::string, std::string>& then,
                           const std::map<std::string, std::string>& now) {
  for (const auto& [key, value] : now)
    if (const auto it = then.find(key); it != then.end() && it->second != value)
      return invalid_argument(
          fmt::format("the run began with {} = '{}', it is now '{}'; resume with what it began with, or begin another "
                      "run",
                      key, it->second, value));
  return {};
}

}  // namespace plimsoll::engine
