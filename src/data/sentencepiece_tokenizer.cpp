#include <sentencepiece_processor.h>

#include <algorithm>
#include <array>

#include "core/check.h"
#include "data/sentencepiece_text.h"
#include "data/tokenizer.h"

namespace plimsoll::data {
namespace {

using sentencepiece::SentencePieceProcessor;

std::string with_spaces(std::string_view piece) {
  std::string text;
  while (!piece.empty()) {
    const size_t mark = std::min(piece.find(kSpaceMark), piece.size());
    text += piece.substr(0, mark);
    piece.remove_prefix(mark);
    if (piece.empty()) break;
    text += ' ';
    piece.remove_prefix(kSpaceMark.size());
  }
  return text;
}

class SentencepieceTokenizer : public Tokenizer {
 public:
  explicit SentencepieceTokenizer(std::unique_ptr<SentencePieceProcessor> processor)
      : processor_(std::move(processor)) {
    for (int32_t id = 0; id < processor_->GetPieceSize(); ++id) {
      starts_.push_back(static_cast<uint32_t>(pieces_.size()));
      add_piece(id);
    }
    starts_.push_back(static_cast<uint32_t>(pieces_.size()));
  }

  int32_t vocab_size() const override { return static_cast<int32_t>(starts_.size()) - 1; }

  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    std::vector<int> line_ids;
    while (!text.empty()) {
      std::string_view line = first_line(text);
      text.remove_prefix(line.size());
      while (!line.empty()) line.remove_prefix(encode_start(line, line_ids, ids));
    }
  }

  std::string_view piece(int32_t id) const override {
    PLIMSOLL_CHECK(id >= 0 && id < vocab_size(), id);
    const uint32_t start = starts_[static_cast<size_t>(id)];
    return std::string_view(pieces_).substr(start, starts_[static_cast<size_t>(id) + 1] - start);
  }

  std::string serialize() const override { return processor_->serialized_model_proto(); }

  // All 256 bytes have a piece.
  bool has_byte_fallback() const {
    return std::none_of(byte_ids_.begin(), byte_ids_.end(), [](int32_t id) { return id < 0; });
  }

 private:
  void add_piece(int32_t id) {
    if (processor_->IsControl(id) || processor_->IsUnknown(id)) return;
    const std::string& name = processor_->IdToPiece(id);
    if (!processor_->IsByte(id)) {
      pieces_ += with_spaces(name);
      return;
    }
    const auto byte = static_cast<unsigned char>(std::stoi(name.substr(3, 2), nullptr, 16));
    byte_ids_[byte] = id;
    pieces_ += static_cast<char>(byte);
  }

  // Encodes the longest start of `line` that goes one way; returns its bytes.
  size_t encode_start(std::string_view line, std::vector<int>& line_ids, std::vector<int32_t>& ids) const {
    const size_t safe = safe_length(line);
    if (safe == 0) {
      ids.push_back(byte_ids_[static_cast<unsigned char>(line[0])]);
      return 1;
    }
    const auto status = processor_->Encode(line.substr(0, safe), &line_ids);
    PLIMSOLL_CHECK(status.ok(), status.ToString());
    ids.insert(ids.end(), line_ids.begin(), line_ids.end());
    return safe;
  }

  static constexpr std::array<int32_t, 256> no_ids() {
    std::array<int32_t, 256> ids{};
    ids.fill(-1);
    return ids;
  }

  std::unique_ptr<SentencePieceProcessor> processor_;
  std::string pieces_;            // the bytes of all pieces, one behind the other
  std::vector<uint32_t> starts_;  // where each starts in pieces_, and the end of the last
  std::array<int32_t, 256> byte_ids_ = no_ids();
};

// Holds what models change most: runs of spaces, spaces at the ends, line ends, composed and compatibility characters.
constexpr std::string_view kProbe = "  two  words\n\n\ttab e\xCC\x81 \xEF\xAC\x81 \xE2\x84\xA2 \xF0\x9F\x9A\xA2 ";

}  // namespace

// Peak of loading, measured with sentencepiece 0.1.97, in KiB beside what is booked here:
//   file 9 kB, 512 pieces: 848 of 1167; 31 kB, 2,048: 1,100 of 1,585; 127 kB, 8,192: 2,532 of 3,281;
//   495 kB, 32,000: 7,740 of 9,831; 5.0 MB, 252,048: 59,672 of 74,828; 15.2 MB, 102,048: 67,240 of 82,446.
int64_t sentencepiece_bytes(int64_t file_bytes, int64_t vocab_size) {
  return (int64_t{1} << 20) + 4 * file_bytes + 220 * vocab_size;
}

Result<std::unique_ptr<Tokenizer>> try_parse_sentencepiece(std::string_view model, const std::string& name) {
  auto processor = std::make_unique<SentencePieceProcessor>();
  const auto status = model.empty() ? sentencepiece::util::Status(sentencepiece::util::StatusCode::kDataLoss, "empty")
                                    : processor->LoadFromSerializedProto(model);
  if (!status.ok()) return corrupt(name + " is no sentencepiece model, or a damaged one");
  auto tokenizer = std::make_unique<SentencepieceTokenizer>(std::move(processor));
  if (!tokenizer->has_byte_fallback()) {
    return unsupported(name + " has no byte pieces, so it cannot hold every text; train it with byte_fallback");
  }
  std::vector<int32_t> ids;
  tokenizer->encode(kProbe, ids);
  if (tokenizer->decode(ids) != kProbe) {
    return unsupported(name +
                       " changes text before it cuts it; train it with the identity normaliser, without "
                       "add_dummy_prefix and remove_extra_whitespaces");
  }
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

}  // namespace plimsoll::data
