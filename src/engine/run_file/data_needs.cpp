#include "engine/run_file/data_needs.h"

#include <algorithm>

#include "data/byte_ngram.h"
#include "data/sentencepiece_training.h"
#include "data/tokenizer.h"
#include "data/tokens.h"
#include "engine/run_file/tokenizer_choice.h"
#include "formats/file_reader.h"

namespace plimsoll::engine {
namespace {

/// What a tokenizer from a file needs, and its vocabulary.
Status find_tokenizer_needs(const RunConfig& config, DataNeeds& out) {
  PLIMSOLL_ASSIGN(const formats::FileReader file, formats::FileReader::try_open(config.data.tokenizer));
  const int64_t least = data::sentencepiece_bytes(file.size_bytes(), 0);
  const std::optional<Bytes>& ram = config.memory.ram;
  if (ram && file.size_bytes() <= data::kLargestModelBytes && least > ram->value) {
    auto why = std::make_shared<Infeasible>();
    why->needed_bytes = least;
    why->budget_bytes = ram->value;
    why->tightest_step = "loading the tokenizer";
    why->holders.push_back({"tokenizer", least});
    return Error{ErrorCode::kInfeasible,
                 config.at("data", "tokenizer") + " needs at least " + to_string(Bytes{least}) +
                     " of RAM, the budget is " + to_string(*ram),
                 why};
  }
  PLIMSOLL_ASSIGN(const auto tokenizer, data::try_load_tokenizer(config.data.tokenizer));
  out.tokenizer_vocab = tokenizer->vocab_size();
  out.loader_bytes += data::sentencepiece_bytes(file.size_bytes(), out.tokenizer_vocab);
  return {};
}

}  // namespace

Result<DataNeeds> try_find_data_needs(const RunConfig& config) {
  DataNeeds out{.loader_bytes = 2 * data::kTokenFileBytes};
  const std::string& tokenizer = config.data.tokenizer;
  int64_t training_bytes = 0;
  if (tokenizer == "bytes") {
    out.tokenizer_vocab = 256;
  } else if (trains_tokenizer(config)) {
    out.tokenizer_vocab = config.data.vocab_size;
    out.loader_bytes +=
        data::sentencepiece_bytes(data::kTrainedPieceFileBytes * config.data.vocab_size, config.data.vocab_size);
    training_bytes = data::sentencepiece_training_bytes(tokenizer_training_options(config));
  } else if (tokenizer != "none") {
    PLIMSOLL_RETURN_IF_ERROR(find_tokenizer_needs(config, out));
  }
  if (config.data.kind == "text")
    out.preparation_bytes = data::kTokenizingBytes + std::max(training_bytes, out.loader_bytes);
  if (config.data.kind == "text")
    out.baseline_bytes =
        std::max(out.preparation_bytes, data::kTokenizingBytes + out.loader_bytes + data::ByteNgram::kTableBytes);
  return out;
}

}  // namespace plimsoll::engine
