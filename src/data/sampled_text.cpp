#include "data/sampled_text.h"

#include <algorithm>

#include "core/check.h"

namespace plimsoll::data {

SampledText::SampledText(const TextPart& text, int64_t most_bytes) : reader_(text) {
  PLIMSOLL_CHECK(most_bytes > 0, most_bytes);
  const int64_t whole = size_bytes(text);
  stride_ = std::max<int64_t>(1, whole / most_bytes + (whole % most_bytes > 0 ? 1 : 0));
}

Result<std::string_view> SampledText::try_next() {
  while (true) {
    PLIMSOLL_ASSIGN(const std::string_view chunk, reader_.try_next());
    if (chunk.empty()) return chunk;
    const bool is_taken = index_ % stride_ == 0;
    read_bytes_ += static_cast<int64_t>(chunk.size());
    // Lines as long as a chunk give large and small chunks in turn, so small ones go with their neighbours.
    if (read_bytes_ - index_begin_ >= TextReader::kChunkBytes / 2) {
      ++index_;
      index_begin_ = read_bytes_;
    }
    if (is_taken) return chunk;
  }
}

}  // namespace plimsoll::data
