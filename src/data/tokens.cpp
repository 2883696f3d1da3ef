#include "data/tokens.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/check.h"

namespace plimsoll::data {
namespace {

using formats::TokenFileInfo;
using formats::TokenFileReader;

constexpr size_t kWindow = 4096;

class FileTokens : public TokenSource {
 public:
  explicit FileTokens(TokenFileReader reader) : reader_(std::move(reader)) {}

  int64_t size() const override { return reader_.info().count; }
  Status try_read(int64_t first, std::span<int32_t> ids) override { return reader_.try_read(first, ids); }

 private:
  TokenFileReader reader_;
};

/// Ids [begin, begin + size) of another source.
class TokenRange : public TokenSource {
 public:
  TokenRange(std::shared_ptr<TokenSource> tokens, int64_t begin, int64_t size)
      : tokens_(std::move(tokens)), begin_(begin), size_(size) {}

  int64_t size() const override { return size_; }
  Status try_read(int64_t first, std::span<int32_t> ids) override {
    PLIMSOLL_CHECK(first >= 0 && first + static_cast<int64_t>(ids.size()) <= size_, first, " of ", size_);
    return tokens_->try_read(begin_ + first, ids);
  }

 private:
  std::shared_ptr<TokenSource> tokens_;
  int64_t begin_;
  int64_t size_;
};

}  // namespace

Result<OpenTokens> try_open_tokens(const TokenFileInfo& info, int64_t vocab_size) {
  PLIMSOLL_ASSIGN(TokenFileReader reader, TokenFileReader::try_open(info, vocab_size));
  PLIMSOLL_ASSIGN(const uint32_t checksum, reader.try_check_ids());
  return OpenTokens{std::make_unique<FileTokens>(std::move(reader)), checksum};
}

Result<TokenSplit> try_split_tokens(std::shared_ptr<TokenSource> tokens, double validation_fraction) {
  if (!(validation_fraction >= 0 && validation_fraction < 1))
    return invalid_argument("[tokens] validation_fraction " + std::to_string(validation_fraction) +
                            " is out of range; expected 0 <= fraction < 1");
  if (validation_fraction == 0) return TokenSplit{std::move(tokens), nullptr};
  const int64_t size = tokens->size();
  const auto cut = static_cast<int64_t>(static_cast<double>(size) * (1 - validation_fraction));
  if (cut <= 0 || cut >= size)
    return invalid_argument("[tokens] " + std::to_string(size) + " tokens cannot be split: a validation_fraction of " +
                            std::to_string(validation_fraction) + " leaves one side empty; give validation tokens");
  return TokenSplit{std::make_shared<TokenRange>(tokens, 0, cut),
                    std::make_shared<TokenRange>(tokens, cut, size - cut)};
}

Result<TokenizedText> try_tokenize(const TextPart& text, const Tokenizer& tokenizer, const std::string& path,
                                   FunctionRef<bool(int64_t, int64_t)> progress) {
  PLIMSOLL_ASSIGN(auto writer,
                  formats::TokenFileWriter::try_create(path, formats::token_dtype(tokenizer.vocab_size())));
  TextReader reader(text);
  TokenizedText done;
  std::vector<int32_t> ids;
  while (true) {
    PLIMSOLL_ASSIGN(const std::string_view chunk, reader.try_next());
    if (chunk.empty()) break;
    ids.clear();
    tokenizer.encode(chunk, ids);
    PLIMSOLL_RETURN_IF_ERROR(writer.try_append(ids));
    done.text_bytes += static_cast<int64_t>(chunk.size());
    if (!progress(done.text_bytes, size_bytes(text))) return cancelled("[tokenizer] stopped before all text was read");
  }
  done.tokens = writer.count();
  PLIMSOLL_RETURN_IF_ERROR(writer.try_finish());
  return done;
}

Result<int64_t> try_count_bytes(TokenSource& tokens, const Tokenizer& tokenizer, int64_t first, int64_t end) {
  std::array<int32_t, kWindow> window;
  int64_t bytes = 0;
  for (; first < end; first += static_cast<int64_t>(kWindow)) {
    const auto ids = std::span(window).first(std::min(kWindow, static_cast<size_t>(end - first)));
    PLIMSOLL_RETURN_IF_ERROR(tokens.try_read(first, ids));
    bytes += tokenizer.count_bytes(ids);
  }
  return bytes;
}

}  // namespace plimsoll::data
