#include "engine/run_file/tokenizer_choice.h"

#include "formats/file_checksum.h"
#include "formats/file_reader.h"

namespace plimsoll::engine {

bool trains_tokenizer(const RunConfig& config) {
  return config.data.kind == "text" && config.data.tokenizer == "sentencepiece";
}

data::SentencepieceOptions tokenizer_training_options(const RunConfig& config) {
  return {.vocab_size = static_cast<int32_t>(config.data.vocab_size)};
}

std::optional<std::string> tokenizer_file(const RunConfig& config, const std::string& run_folder) {
  const std::string& tokenizer = config.data.tokenizer;
  if (tokenizer == "bytes" || tokenizer == "none") return std::nullopt;
  return trains_tokenizer(config) ? run_folder + "/tokenizer.model" : tokenizer;
}

Result<DataFile> try_sum_tokenizer(const std::string& path, DataFile::Origin origin) {
  PLIMSOLL_ASSIGN(const formats::FileReader file, formats::FileReader::try_open(path));
  PLIMSOLL_ASSIGN(const uint32_t checksum, formats::try_checksum(file, 0, file.size_bytes()));
  return DataFile{"tokenizer", path, checksum, origin};
}

}  // namespace plimsoll::engine
