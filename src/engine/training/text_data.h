#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/function_ref.h"
#include "data/batches.h"
#include "data/tokenizer.h"
#include "engine/checkpoint/same_run.h"
#include "engine/run_file/model_choice.h"
#include "engine/run_file/run_config.h"

namespace plimsoll::engine {

/// Tokens ready to be drawn from.
struct TextData {
  std::unique_ptr<data::Tokenizer> tokenizer;  ///< null where the data are token files without a tokenizer
  std::shared_ptr<data::TokenSource> train;
  std::shared_ptr<data::TokenSource> validation;  ///< null where there is none
  data::TextPart train_text;                      ///< empty where the data are token files
  std::vector<DataFile> files;                    ///< that all this comes from, sources before what is made of them
  double baseline_bits_per_byte = 0;              ///< of a ByteNgram on the validation text; 0 where it was not counted
};

/// That the files or folders which the run file names exist, without a look into them. Errors: io.
Status check_data_exist(const RunConfig& config);

/// Says what is being done and how far it is, from 0 to 1; returns false to stop.
using PreparationProgress = FunctionRef<bool(const std::string& what, double share)>;

/// Opens token files and sets the end of the training one apart where no other is named, or trains the tokenizer and
/// turns the text into token files in `folder`, unless they are there from before: then they are taken as they are, so
/// that a resumed run sees the same tokens.
///
/// Errors: what the data folder says of files, texts and ids; corrupt for token files with ids that are special to the
/// model, or that the tokenizer does not have. Memory: DataNeeds, its baseline_bytes where `counts_bytes`; what was
/// freed is given back to the system.
Result<TextData> try_prepare_text(const RunConfig& config, const std::string& folder, const ModelChoice& model,
                                  bool counts_bytes, PreparationProgress progress);

}  // namespace plimsoll::engine
