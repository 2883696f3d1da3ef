#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "formats/file_reader.h"

namespace plimsoll::data {

/// Bytes [begin, end) of a text file.
struct TextRange {
  std::string path;
  int64_t begin = 0;
  int64_t end = 0;
  friend bool operator==(const TextRange&, const TextRange&) = default;
};

/// Text as ranges of files, in order: named, not loaded.
struct TextPart {
  std::vector<TextRange> ranges;
  std::string separator = "\f";  ///< stands between two ranges where the first does not end with it; may be empty

  bool empty() const { return ranges.empty(); }
  friend bool operator==(const TextPart&, const TextPart&) = default;
};

/// The bytes in `part`'s files, without separators put between them.
int64_t size_bytes(const TextPart& part);

/// The CRC-32C of its bytes, separators put between them not counted. Errors: io. Cost: reads them once.
Result<uint32_t> try_checksum(const TextPart& part);

/// Where text comes from and how validation text is set apart.
struct TextOptions {
  std::vector<std::string> paths;  ///< text files, or folders of which every .txt below is taken, in order of names
  std::vector<std::string> validation_paths;  ///< the same for validation; empty: a fraction of `paths` is set apart
  double validation_fraction = 0.05;          ///< of the bytes, at the end; 0: no validation text
  std::string separator = "\f";               ///< ends a document; the end of a file does so too
};

struct TextSplit {
  TextPart train;
  TextPart validation;  ///< empty where none was asked for
};

/// Finds the files and sets validation text apart, without loading them.
///
/// The fraction is cut where a document ends: at the first separator or end of file at or behind the wanted place;
/// where there is none, at the first line end; so the same files give the same split, and no document is on both sides.
/// Errors: io, for a path that is missing or unreadable; invalid_argument, for a folder without .txt files, for text
/// that is empty, and for a fraction outside [0, 1) or that leaves either side empty. Cost: reads at most one document.
Result<TextSplit> try_split_text(const TextOptions& options);

/// Reads a part's text from start to end in chunks, its separator between files that do not end with it.
///
/// A chunk ends before a run of line ends where it can, so that a tokenizer sees the same lines whatever the size of
/// chunks. Memory: the chunk; nothing stays in the page cache.
class TextReader {
 public:
  static constexpr int64_t kChunkBytes = 64 << 10;

  explicit TextReader(TextPart part);

  /// The next chunk, or an empty view at the end; valid until the next call.
  ///
  /// Errors: io; corrupt, for what is no text: a zero byte, or more than a tenth of a chunk not UTF-8.
  Result<std::string_view> try_next();

 private:
  Status try_fill();
  Result<bool> try_find_separator_at_end(const TextRange& range) const;
  Status check_is_text(std::string_view bytes, bool ends_part) const;

  TextPart part_;
  std::optional<formats::FileReader> file_;
  size_t range_ = 0;      // the range that is being read
  int64_t position_ = 0;  // in its file
  std::string buffer_;    // read, not handed out yet; the first handed_ bytes were the last chunk
  size_t handed_ = 0;
};

}  // namespace plimsoll::data
