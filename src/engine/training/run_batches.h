#pragma once

#include <memory>

#include "data/batches.h"
#include "engine/run_file/model_choice.h"
#include "engine/run_file/run_config.h"
#include "engine/training/text_data.h"

namespace plimsoll::engine {

/// Where a run draws its samples from.
struct RunBatches {
  std::unique_ptr<data::BatchSource> train;       ///< batch_size * accumulate samples an update
  std::unique_ptr<data::BatchSource> validation;  ///< every sample once, in order; null where there is none
};

/// Samples for the task of the model: the next token, or the masked ones.
///
/// Errors: invalid_argument where the data have fewer samples than an update needs.
Result<RunBatches> make_run_batches(const RunConfig& config, const ModelChoice& model, const TextData& data);

}  // namespace plimsoll::engine
