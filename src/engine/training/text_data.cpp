#include "engine/training/text_data.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fmt/format.h>

#include <algorithm>

#include "data/byte_ngram.h"
#include "data/sentencepiece_training.h"
#include "data/text.h"
#include "data/tokens.h"
#include "engine/run_file/tokenizer_choice.h"
#include "formats/file_reader.h"
#include "formats/file_writer.h"
#include "formats/token_file.h"

namespace plimsoll::engine {
namespace {

std::optional<DType> token_dtype(const RunConfig& config) { return try_parse_dtype(config.data.token_dtype); }

using Origin = DataFile::Origin;
using Files = std::vector<DataFile>;
using Source = std::shared_ptr<data::TokenSource>;

/// Opens a token file, and adds it to `files`.
Result<Source> try_open(const std::string& what, const std::string& path, int64_t vocab, std::optional<DType> dtype,
                        Origin origin, Files& files) {
  PLIMSOLL_ASSIGN(const formats::TokenFileInfo info, formats::try_inspect_token_file(path, vocab, dtype));
  PLIMSOLL_ASSIGN(data::OpenTokens open, data::try_open_tokens(info, vocab));
  files.push_back({what, path, open.checksum, origin});
  return Source(std::move(open.tokens));
}

Result<std::unique_ptr<data::Tokenizer>> try_tokenizer(const RunConfig& config, const std::string& folder,
                                                       Origin origin, Files& files) {
  const std::optional<std::string> path = tokenizer_file(config, folder);
  if (!path) return data::try_load_tokenizer(config.data.tokenizer);
  PLIMSOLL_ASSIGN(DataFile file, try_sum_tokenizer(*path, origin));
  files.push_back(std::move(file));
  return data::try_load_tokenizer(*path);
}

/// Makes a file of the run unless it is there from before.
Result<Origin> try_make_once(const std::string& path, FunctionRef<Status()> make) {
  PLIMSOLL_ASSIGN(const bool is_made, formats::try_exists(path));
  if (is_made) return Origin::kMadeBefore;
  PLIMSOLL_RETURN_IF_ERROR(make());
  return Origin::kMadeNow;
}

Status train_tokenizer(const RunConfig& config, const std::string& path, const data::TextPart& text,
                       PreparationProgress progress) {
  if (!progress("training the tokenizer", 0)) return cancelled("stopped while the tokenizer was trained");
  PLIMSOLL_ASSIGN(const std::string model, data::try_train_sentencepiece(text, tokenizer_training_options(config)));
  return formats::try_write_file(path, model);
}

/// Bytes done of a total as a share of the work `what`.
auto shares(PreparationProgress progress, std::string what) {
  return [progress, what = std::move(what)](int64_t done, int64_t total) {
    return progress(what, total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total));
  };
}

/// The tokens of one side of the text, from the run folder where they lie there.
Result<Source> try_tokens(const std::string& side, const data::TextPart& text, const std::string& path,
                          const data::Tokenizer& tokenizer, int64_t vocab, Files& files, PreparationProgress progress) {
  PLIMSOLL_ASSIGN(const Origin origin, try_make_once(path, [&]() -> Status {
                    const auto report = shares(progress, "turning " + side + " text into tokens");
                    PLIMSOLL_RETURN_IF_ERROR(data::try_tokenize(text, tokenizer, path, report));
                    return {};
                  }));
  auto tokens = try_open(side + " tokens", path, vocab, std::nullopt, origin, files);
  if (tokens.ok() || tokens.error().code != ErrorCode::kCorrupt) return tokens;
  Error error = tokens.error();
  error.message += " (remove the file, and resuming makes it again from the text)";
  return error;
}

Status note_text(const std::string& what, const std::vector<std::string>& paths, const data::TextPart& text,
                 Files& files) {
  PLIMSOLL_ASSIGN(const uint32_t checksum, data::try_checksum(text));
  files.push_back({what, fmt::format("{}", fmt::join(paths, ", ")), checksum, Origin::kGiven});
  return {};
}

/// What counting bytes reaches on the validation text. Before the run, so that its table is not held beside the arena.
Result<double> try_baseline(const data::TextSplit& split, PreparationProgress progress) {
  const auto report = shares(progress, "counting bytes to compare with");
  PLIMSOLL_ASSIGN(const data::ByteNgram model, data::try_train_byte_ngram(split.train, report));
  return data::try_bits_per_byte(model, split.validation, report);
}

Result<TextData> try_prepare_from_text(const RunConfig& config, const std::string& folder, int64_t vocab,
                                       bool counts_bytes, PreparationProgress progress) {
  TextData out;
  PLIMSOLL_ASSIGN(
      data::TextSplit split,
      data::try_split_text({.paths = config.data.train,
                            .validation_paths = config.data.valid,
                            .validation_fraction = config.data.valid.empty() ? config.data.validation_fraction : 0.0,
                            .separator = config.data.separator}));
  out.train_text = split.train;
  const auto& valid_paths = config.data.valid.empty() ? config.data.train : config.data.valid;
  PLIMSOLL_RETURN_IF_ERROR(note_text("training text", config.data.train, split.train, out.files));
  if (!split.validation.empty())
    PLIMSOLL_RETURN_IF_ERROR(note_text("validation text", valid_paths, split.validation, out.files));
  Origin origin = Origin::kGiven;
  if (trains_tokenizer(config)) {
    const std::string path = *tokenizer_file(config, folder);
    PLIMSOLL_ASSIGN(origin, try_make_once(path, [&] { return train_tokenizer(config, path, split.train, progress); }));
  }
  PLIMSOLL_ASSIGN(out.tokenizer, try_tokenizer(config, folder, origin, out.files));
  const int64_t ids = std::min<int64_t>(vocab, out.tokenizer->vocab_size());
  PLIMSOLL_ASSIGN(out.train,
                  try_tokens("training", split.train, folder + "/train.bin", *out.tokenizer, ids, out.files, progress));
  if (split.validation.empty()) return out;
  PLIMSOLL_ASSIGN(out.validation, try_tokens("validation", split.validation, folder + "/valid.bin", *out.tokenizer, ids,
                                             out.files, progress));
  if (counts_bytes) {
    PLIMSOLL_ASSIGN(out.baseline_bits_per_byte, try_baseline(split, progress));
  }
  return out;
}

/// Who says that ids of token files are below `vocab`, for messages about one that is not.
std::string limit_of(const RunConfig& config, const ModelChoice& model, const data::Tokenizer* tokenizer) {
  if (tokenizer != nullptr && tokenizer->vocab_size() < model.text_vocab())
    return config.at("data", "tokenizer") + " has " + std::to_string(tokenizer->vocab_size()) + " ids";
  if (!model.is_masked) return "the model '" + model.name + "' has " + std::to_string(model.vocab_size) + " ids";
  return "the model '" + model.name + "' keeps ids " + std::to_string(model.text_vocab()) + ".." +
         std::to_string(model.vocab_size - 1) + " for [CLS], [SEP] and [MASK], so tokens must be below";
}

Result<TextData> try_prepare_from_tokens(const RunConfig& config, const ModelChoice& model) {
  if (config.data.train.size() != 1 || config.data.valid.size() > 1)
    return invalid_argument("[data] kind = \"tokens\" takes one token file for train and at most one for valid");
  TextData out;
  int64_t vocab = model.text_vocab();
  if (config.data.tokenizer != "none") {
    PLIMSOLL_ASSIGN(out.tokenizer, try_tokenizer(config, "", Origin::kGiven, out.files));
    vocab = std::min<int64_t>(vocab, out.tokenizer->vocab_size());
  }
  const auto open = [&](const std::string& what, const std::string& path) -> Result<Source> {
    auto tokens = try_open(what, path, vocab, token_dtype(config), Origin::kGiven, out.files);
    if (tokens.ok() || tokens.error().code != ErrorCode::kCorrupt) return tokens;
    return tokens.error().with_context(limit_of(config, model, out.tokenizer.get()));
  };
  PLIMSOLL_ASSIGN(out.train, open("training tokens", config.data.train[0]));
  if (config.data.valid.empty()) {
    PLIMSOLL_ASSIGN(data::TokenSplit split, data::try_split_tokens(out.train, config.data.validation_fraction));
    out.train = std::move(split.train);
    out.validation = std::move(split.validation);
  } else {
    PLIMSOLL_ASSIGN(out.validation, open("validation tokens", config.data.valid[0]));
  }
  return out;
}

/// glibc keeps what is freed: 33 MiB after the training of 2,048 pieces on English, which the plan has for the arena.
void give_back_freed_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace

Status check_data_exist(const RunConfig& config) {
  for (const auto& [key, paths] : {std::pair("train", &config.data.train), std::pair("valid", &config.data.valid)})
    for (const std::string& path : *paths) {
      PLIMSOLL_ASSIGN(const bool exists, formats::try_exists(path));
      if (!exists) return io_error(config.at("data", key) + " names '" + path + "', which does not exist");
    }
  return {};
}

Result<TextData> try_prepare_text(const RunConfig& config, const std::string& folder, const ModelChoice& model,
                                  bool counts_bytes, PreparationProgress progress) {
  auto out = config.data.kind == "text"
                 ? try_prepare_from_text(config, folder, model.text_vocab(), counts_bytes, progress)
                 : try_prepare_from_tokens(config, model);
  give_back_freed_memory();
  return out;
}

}  // namespace plimsoll::engine
