#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "core/result.h"

namespace plimsoll::engine {

/// A file that the samples of a run come from: it stays what it is from the first update to the last.
struct DataFile {
  enum class Origin {
    kGiven,       ///< by the user
    kMadeBefore,  ///< by the run, from the text, when it began
    kMadeNow,     ///< the same, by this process
  };
  std::string what;  ///< that it holds, e.g. "training tokens"; one name a run
  std::string path;
  uint32_t checksum = 0;  ///< CRC-32C of its content; of token files without their header
  Origin origin = Origin::kGiven;
};

/// What a checkpoint keeps of them: checksums by what they are of.
std::map<std::string, uint32_t> checksums_of(std::span<const DataFile> files);

/// Errors: corrupt, for the first file that is not what it was `then`, damaged or changed by somebody; what to do
/// depends on its origin. What a checkpoint kept nothing of is no fault.
Status check_same_files(const std::map<std::string, uint32_t>& then, std::span<const DataFile> now);

/// Errors: invalid_argument, naming the first setting of `now` that was another one `then`, with both values.
Status check_same_settings(const std::map<std::string, std::string>& then,
                           const std::map<std::string, std::string>& now);

}  // namespace plimsoll::engine
