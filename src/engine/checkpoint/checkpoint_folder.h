#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "engine/checkpoint/training_state.h"

namespace plimsoll::engine {

inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";
inline constexpr const char* kStateFile = "state.json";
inline constexpr const char* kPartialEnding = ".partial";  ///< being written or removed: never read
inline constexpr const char* kOldEnding = ".old";          ///< whole, and about to be replaced

/// Absolute, without a slash at the end, so that parent and name can be told apart.
std::string absolute_folder(const std::string& folder);

/// Where a run's checkpoints lie.
std::string checkpoints_of(const std::string& run_folder);

/// A folder by the name of a checkpoint; whether it is whole is not yet known.
struct CheckpointFolder {
  int64_t step = 0;
  bool is_old = false;  ///< named step-N.old
  std::string path;
};

/// The folders `step-N` and `step-N.old` in `parent`, highest step first and old ones after their successor; none where
/// `parent` cannot be read.
std::vector<CheckpointFolder> list_checkpoints(const std::string& parent);

/// state.json of a checkpoint whose files exist with the sizes that it says.
///
/// Errors: io where there is no such folder; corrupt and unsupported with the file's path.
Result<CheckpointRecord> try_read_record(const std::string& folder);

/// The newest whole checkpoint in `parent`, of a step below `below` where that is given.
std::optional<CheckpointFolder> find_whole_checkpoint(const std::string& parent,
                                                      std::optional<int64_t> below = std::nullopt);

/// Removes a checkpoint so that no half of it is ever taken for one: renamed first. Errors: io.
Status try_remove_checkpoint(const std::string& folder);

/// Removes what broken saves and removals left in `parent`. Errors: io.
Status try_remove_leftovers(const std::string& parent);

/// Removes all but the newest `keep` whole checkpoints, what they replaced, and damaged ones older than those;
/// `newest` stays in any case. Errors: io.
Status try_remove_older(const std::string& parent, int keep, const std::string& newest);

/// Gives the finished folder `partial` the name `folder`; a whole checkpoint of that name stays until then. Errors: io.
Status try_put_in_place(const std::string& partial, const std::string& folder);

/// Errors: io where the disk of `folder` has less than `needed_bytes` free: path, needed and free bytes.
Status check_free_space(const std::string& folder, int64_t needed_bytes);

}  // namespace plimsoll::engine
