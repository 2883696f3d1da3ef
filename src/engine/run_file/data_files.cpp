#include "engine/run_file/data_files.h"

#include <fmt/format.h>

#include <span>

#include "formats/crc32c.h"

namespace plimsoll::engine {
namespace {

bool trains_tokenizer(const RunConfig& config) { return config.data.tokenizer == "sentencepiece"; }

}  // namespace

std::string tokenizer_path(const RunConfig& config, const std::string& run_folder) {
  return trains_tokenizer(config) ? run_folder + "/tokenizer.model" : config.data.tokenizer;
}

DataFile tokenizer_file(const data::Tokenizer& tokenizer, const std::string& path, const RunConfig& config) {
  const std::string content = tokenizer.serialize();
  return {path, formats::crc32c(std::as_bytes(std::span(content))), trains_tokenizer(config)};
}

std::map<std::string, uint32_t> checksums_of(const DataFiles& files) {
  std::map<std::string, uint32_t> out;
  for (const auto& [what, file] : files) out[what] = file.checksum;
  return out;
}

Status check_same_files(const std::map<std::string, uint32_t>& then, const DataFiles& now) {
  for (const auto& [what, file] : now) {
    const auto before = then.find(what);
    if (before == then.end() || before->second == file.checksum) continue;
    return corrupt(
        fmt::format("{} does not hold the {} that the run began with (checksum {:08x}, then {:08x}): it is "
                    "damaged or was changed; {}",
                    file.path, what, file.checksum, before->second,
                    file.is_made ? "remove it, and resuming makes it again from the text"
                                 : "put back the file that the run began with, or begin another run"));
  }
  return {};
}

}  // namespace plimsoll::engine
