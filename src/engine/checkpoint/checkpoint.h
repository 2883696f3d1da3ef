#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/result.h"
#include "engine/checkpoint/tensor_view.h"
#include "engine/checkpoint/training_state.h"
#include "formats/file_writer.h"

namespace plimsoll::engine {

struct SaveOptions {
  int keep = 2;                ///< whole checkpoints to leave, the new one counted; at least 1
  formats::WriteCall write{};  ///< empty: pwrite; tests slow it down or let it fail
};

/// Saves to `run_folder`/checkpoints/step-N: model.safetensors, optimizer.safetensors, state.json.
///
/// All is written aside and flushed to disk before the folder gets its name, and only then are checkpoints older than
/// the newest `keep` removed, never the new one; whatever happens, those that were whole stay. Leftovers of broken
/// saves are removed first. Requires: layouts are plain; nothing changes the tensors while they are written; one
/// process saves to a run folder. Errors: io, for a full disk with path, needed and free bytes (asked before anything
/// is written), and the checkpoint that is still there; invalid_argument for a negative step, `keep` under 1 or a name
/// twice. Memory: under 1 MiB beside the tensors; the page cache is left clean. Order: the same state gives the same
/// bytes.
Status save_checkpoint(const std::string& run_folder, std::span<const TensorView> parameters,
                       std::span<const TensorView> optimizer, const TrainingState& state,
                       const SaveOptions& options = {});

/// A whole checkpoint of a run, and what the user should hear of it.
struct LatestCheckpoint {
  std::string folder;
  std::string note{};  ///< that a newer one is damaged, and why; mostly empty
};

/// The newest whole checkpoint of a run: the highest step whose state is readable and whose files have the sizes that
/// it says.
///
/// Errors: io where there is none, or one cannot be read; unsupported where one is of another version of the format;
/// corrupt where none is whole, and why the newest does not count. Cost: reads no tensors.
Result<LatestCheckpoint> find_latest_checkpoint(const std::string& run_folder);

/// The counters of a checkpoint, checked against its own checksum; no tensor is read.
///
/// Errors: io where it is missing; corrupt, with the file and the checkpoint to use instead.
Result<TrainingState> read_training_state(const std::string& folder);

/// Fills all tensors of a training run from checkpoint `folder`, checking sizes and checksums on the way.
///
/// `model` and `model_hash` are those of the run. Names and shapes of all tensors are compared before the first is
/// filled. Requires: layouts are plain.
/// Errors: invalid_argument for a checkpoint of another model or optimizer: the first tensor that differs, with both
/// shapes; corrupt, with the file and the checkpoint to use instead, in which case tensors may be filled in part; io.
/// Memory: nothing beside the tensors but the headers.
Result<TrainingState> load_checkpoint(const std::string& folder, const std::string& model, uint64_t model_hash,
                                      std::span<const TensorView> parameters, std::span<const TensorView> optimizer);

/// Fills the parameters alone, e.g. to generate; optimizer.safetensors is not read. Otherwise as load_checkpoint.
Result<TrainingState> load_parameters(const std::string& folder, const std::string& model, uint64_t model_hash,
                                      std::span<const TensorView> parameters);

}  // namespace plimsoll::engine
