#include "engine/text_data.h"

#include <algorithm>
#include <filesystem>

#include "data/sentencepiece_training.h"
#include "data/text.h"
#include "data/tokens.h"
#include "formats/file_writer.h"
#include "formats/token_file.h"

namespace plimsoll::engine {
namespace {

namespace fs = std::filesystem;

// Measured on 7 MB of English: a loaded sentencepiece model of 2,048 pieces holds 12 MiB, training one on 2 MiB of text
// peaks at 62 MiB.
constexpr int64_t kTokenizerBytes = int64_t{16} << 20;
constexpr int64_t kTrainingBytes = int64_t{80} << 20;
/// Two token files read through one buffer each, and their windows.
constexpr int64_t kWindowBytes = int64_t{1} << 20;

std::optional<DType> token_dtype(const RunConfig& config) { return try_parse_dtype(config.data.token_dtype); }

Result<std::shared_ptr<data::TokenSource>> try_open(const std::string& path, int64_t vocab,
                                                    std::optional<DType> dtype) {
  PLIMSOLL_ASSIGN(const formats::TokenFileInfo info, formats::try_inspect_token_file(path, vocab, dtype));
  PLIMSOLL_ASSIGN(std::unique_ptr<data::TokenSource> source,
                  data::try_open_tokens(info, vocab, data::TokenPlace::kFile));
  return std::shared_ptr<data::TokenSource>(std::move(source));
}

/// Whether the run file names the model that made its token files. `bytes`, the default, says nothing of them.
bool names_model_of_tokens(const RunConfig& config) { return config.data.tokenizer != "bytes"; }

Status write_file(const std::string& path, std::string_view bytes) {
  PLIMSOLL_ASSIGN(auto writer, formats::FileWriter::try_create(path));
  PLIMSOLL_RETURN_IF_ERROR(writer.try_append(bytes));
  return writer.try_finish();
}

Result<std::unique_ptr<data::Tokenizer>> try_tokenizer(const RunConfig& config, const std::string& folder,
                                                       const data::TextPart& text, PreparationProgress progress) {
  if (config.data.tokenizer != "sentencepiece") return data::try_load_tokenizer(config.data.tokenizer);
  const std::string path = folder + "/tokenizer.model";
  if (!fs::exists(path)) {
    if (!progress("training the tokenizer", 0)) return cancelled("stopped while the tokenizer was trained");
    PLIMSOLL_ASSIGN(const std::string model,
                    data::try_train_sentencepiece(text, {.vocab_size = static_cast<int32_t>(config.data.vocab_size)}));
    PLIMSOLL_RETURN_IF_ERROR(write_file(path, model));
  }
  return data::try_load_tokenizer(path);
}

Result<std::shared_ptr<data::TokenSource>> try_tokens(const data::TextPart& text, const std::string& path,
                                                      const std::string& what, const data::Tokenizer& tokenizer,
                                                      int64_t vocab, PreparationProgress progress) {
  if (!fs::exists(path)) {
    const auto report = [&](int64_t done, int64_t total) {
      return progress("turning " + what + " text into tokens",
                      total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total));
    };
    PLIMSOLL_RETURN_IF_ERROR(data::try_tokenize(text, tokenizer, path, report));
  }
  return try_open(path, vocab, std::nullopt);
}

Result<TextData> try_prepare_from_text(const RunConfig& config, const std::string& folder, int64_t vocab,
                                       PreparationProgress progress) {
  TextData out;
  PLIMSOLL_ASSIGN(
      data::TextSplit split,
      data::try_split_text({.paths = config.data.train,
                            .validation_paths = config.data.valid,
                            .validation_fraction = config.data.valid.empty() ? config.data.validation_fraction : 0.0,
                            .separator = config.data.separator}));
  out.train_text = split.train;
  out.validation_text = split.validation;
  PLIMSOLL_ASSIGN(out.tokenizer, try_tokenizer(config, folder, split.train, progress));
  PLIMSOLL_ASSIGN(out.train,
                  try_tokens(split.train, folder + "/train.bin", "training", *out.tokenizer, vocab, progress));
  if (split.validation.empty()) return out;
  PLIMSOLL_ASSIGN(out.validation,
                  try_tokens(split.validation, folder + "/valid.bin", "validation", *out.tokenizer, vocab, progress));
  PLIMSOLL_ASSIGN(out.validation_bytes, data::try_count_bytes(*out.validation, *out.tokenizer, 1));
  return out;
}

Result<TextData> try_open_token_files(const RunConfig& config, int64_t vocab) {
  if (config.data.train.size() != 1 || config.data.valid.size() > 1)
    return invalid_argument("[data] kind = \"tokens\" takes one token file for train and at most one for valid");
  TextData out;
  if (names_model_of_tokens(config)) {
    PLIMSOLL_ASSIGN(out.tokenizer, data::try_load_tokenizer(config.data.tokenizer));
    // The model's own vocabulary may be larger, but no text has such ids.
    vocab = std::min<int64_t>(vocab, out.tokenizer->vocab_size());
  }
  PLIMSOLL_ASSIGN(out.train, try_open(config.data.train[0], vocab, token_dtype(config)));
  if (config.data.valid.empty()) {
    PLIMSOLL_ASSIGN(data::TokenSplit split, data::try_split_tokens(out.train, config.data.validation_fraction));
    out.train = std::move(split.train);
    out.validation = std::move(split.validation);
  } else {
    PLIMSOLL_ASSIGN(out.validation, try_open(config.data.valid[0], vocab, token_dtype(config)));
  }
  if (out.tokenizer && out.validation) {
    PLIMSOLL_ASSIGN(out.validation_bytes, data::try_count_bytes(*out.validation, *out.tokenizer, 1));
  }
  return out;
}

}  // namespace

Result<DataNeeds> try_find_data_needs(const RunConfig& config) {
  DataNeeds out{.loader_bytes = kWindowBytes};
  if (config.data.kind == "tokens" && !names_model_of_tokens(config)) return out;
  if (config.data.tokenizer == "bytes") {
    out.tokenizer_vocab = 256;
  } else if (config.data.tokenizer == "sentencepiece") {
    out.tokenizer_vocab = config.data.vocab_size;
    out.loader_bytes += kTokenizerBytes;
    out.preparation_bytes = kTrainingBytes;
  } else {
    PLIMSOLL_ASSIGN(const auto tokenizer, data::try_load_tokenizer(config.data.tokenizer));
    out.tokenizer_vocab = tokenizer->vocab_size();
    out.loader_bytes += kTokenizerBytes;
  }
  return out;
}

Result<TextData> try_prepare_text(const RunConfig& config, const std::string& folder, int64_t model_vocab,
                                  PreparationProgress progress) {
  if (config.data.kind == "text") return try_prepare_from_text(config, folder, model_vocab, progress);
  return try_open_token_files(config, model_vocab);
}

}  // namespace plimsoll::engine
