#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/result.h"
#include "data/tokenizer.h"
#include "engine/run_file/run_config.h"

namespace plimsoll::engine {

inline constexpr const char* kTrainingTokens = "training tokens";
inline constexpr const char* kValidationTokens = "validation tokens";
inline constexpr const char* kTokenizer = "tokenizer";

/// A file whose content a run depends on from its first update to its last.
struct DataFile {
  std::string path;
  uint32_t checksum = 0;  ///< CRC-32C of its content; of token files without their header
  bool is_made = false;   ///< by the run, in its folder, and can be made again
};

/// By what they hold: kTrainingTokens, kValidationTokens, kTokenizer.
using DataFiles = std::map<std::string, DataFile>;

/// Where the tokenizer of a run lies, or its name where it has no file.
std::string tokenizer_path(const RunConfig& config, const std::string& run_folder);

/// The file of a tokenizer that was loaded from `path`.
DataFile tokenizer_file(const data::Tokenizer& tokenizer, const std::string& path, const RunConfig& config);

/// What a checkpoint keeps of them.
std::map<std::string, uint32_t> checksums_of(const DataFiles& files);

/// Errors: corrupt, for the first file that is not what it was `then`: damaged, or changed by somebody.
Status check_same_files(const std::map<std::string, uint32_t>& then, const DataFiles& now);

}  // namespace plimsoll::engine
