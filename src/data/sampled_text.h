#pragma once

#include <cstdint>
#include <string_view>

#include "core/result.h"
#include "data/text.h"

namespace plimsoll::data {

/// Chunks of a text, evenly spread, that together are about `most_bytes` of it, or all of a shorter text.
///
/// Cost: reads the whole text. Memory: a TextReader's.
class SampledText {
 public:
  /// Requires: most_bytes > 0.
  SampledText(const TextPart& text, int64_t most_bytes);

  /// The next chunk; empty at the end. Errors: as TextReader::try_next.
  Result<std::string_view> try_next();

  /// Bytes of the text that were read so far, those left out included.
  int64_t read_bytes() const { return read_bytes_; }

 private:
  TextReader reader_;
  int64_t stride_;
  int64_t index_ = 0;        // of a chunk, or of a few small ones
  int64_t index_begin_ = 0;  // where in the text it begins
  int64_t read_bytes_ = 0;
};

}  // namespace plimsoll::data
