#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/result.h"

namespace plimsoll::engine {

/// Where training stands between two updates: with the tensors, all that a resumed run needs.
struct TrainingState {
  int64_t step = 0;                                ///< updates done; names the folder
  int64_t sample = 0;                              ///< place in the data order of the next sample
  int64_t total_samples = 0;                       ///< samples that the data had, so that other data is noticed
  int64_t tokens = 0;                              ///< tokens seen
  std::string model;                               ///< its name
  uint64_t model_hash = 0;                         ///< of every setting that changes what its tensors mean
  std::string optimizer;                           ///< its name
  std::string compile_hash;                        ///< of the program: another one need not give the same bits
  std::map<std::string, uint32_t> data_checksums;  ///< of the files that the samples come from, by what they hold
  std::map<std::string, std::string> settings;     ///< whatever else a resumed run must honour, as text

  friend bool operator==(const TrainingState&, const TrainingState&) = default;
};

/// What state.json says of one file beside it.
struct CheckpointFile {
  int64_t size_bytes = 0;
  uint32_t header_checksum = 0;               ///< CRC-32C
  std::map<std::string, uint32_t> checksums;  ///< CRC-32C by tensor

  friend bool operator==(const CheckpointFile&, const CheckpointFile&) = default;
};

/// All of state.json.
struct CheckpointRecord {
  TrainingState state;
  CheckpointFile model;      ///< model.safetensors
  CheckpointFile optimizer;  ///< optimizer.safetensors

  friend bool operator==(const CheckpointRecord&, const CheckpointRecord&) = default;
};

/// As JSON that ends with a checksum of itself. Errors: invalid_argument for text that is not UTF-8.
Result<std::string> try_write_record(const CheckpointRecord& record);

/// The way back. Errors: corrupt, also where a single byte differs; unsupported for another version of the format.
Result<CheckpointRecord> try_parse_record(std::string_view text);

}  // namespace plimsoll::engine
