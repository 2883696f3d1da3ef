#include "data/tokenizer.h"

#include <array>

#include "core/check.h"
#include "formats/file_reader.h"

namespace plimsoll::data {
namespace {

constexpr int32_t kBytes = 256;
constexpr std::string_view kByteTokenizerName = "bytes";

class ByteTokenizer : public Tokenizer {
 public:
  ByteTokenizer() {
    for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<char>(i);
  }

  int32_t vocab_size() const override { return kBytes; }

  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    for (char c : text) ids.push_back(static_cast<unsigned char>(c));
  }

  std::string_view piece(int32_t id) const override {
    PLIMSOLL_CHECK(id >= 0 && id < kBytes, id);
    return {&bytes_[static_cast<size_t>(id)], 1};
  }

  std::string serialize() const override { return {}; }

 private:
  std::array<char, kBytes> bytes_;
};

}  // namespace

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (int32_t id : ids) text += piece(id);
  return text;
}

int64_t Tokenizer::count_bytes(std::span<const int32_t> ids) const {
  size_t count = 0;
  for (int32_t id : ids) count += piece(id).size();
  return static_cast<int64_t>(count);
}

std::unique_ptr<Tokenizer> make_byte_tokenizer() { return std::make_unique<ByteTokenizer>(); }

Result<std::unique_ptr<Tokenizer>> try_load_tokenizer(const std::string& name_or_path) {
  if (name_or_path == kByteTokenizerName) return make_byte_tokenizer();
  PLIMSOLL_ASSIGN(const formats::FileReader file, formats::FileReader::try_open(name_or_path));
  if (file.size_bytes() > kLargestModelBytes) {
    return corrupt(name_or_path + " is no sentencepiece model: " + std::to_string(file.size_bytes()) + " bytes");
  }
  std::string model(static_cast<size_t>(file.size_bytes()), '\0');
  PLIMSOLL_RETURN_IF_ERROR(file.try_read(0, std::as_writable_bytes(std::span(model))));
  return try_parse_sentencepiece(model, name_or_path);
}

}  // namespace plimsoll::data
