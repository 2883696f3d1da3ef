#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/dtype.h"
#include "core/result.h"
#include "formats/file_reader.h"
#include "formats/file_writer.h"

namespace plimsoll::formats {

/// What a token file (`.bin`) is, as its header and size say; no id has been read.
struct TokenFileInfo {
  std::string path;
  DType dtype = DType::kU16;  ///< u16 or u32, little endian
  int64_t count = 0;          ///< ids
  int64_t data_offset = 0;    ///< bytes before the first id: 1024 with a header, else 0

  bool has_header() const { return data_offset > 0; }
  /// Bytes of the ids: what they take in memory, stored as in the file.
  int64_t size_bytes() const { return count * plimsoll::size_bytes(dtype); }
};

/// Reads the header, if there is one, and checks it against the file's size.
///
/// With a header of llm.c (256 i32 words: magic 20240520, version 1 for u16, or magic 20240801, version 7 for u32; then
/// the count), the header says the dtype. Without one it is `dtype`, or else what `vocab_size` needs: u16 up to 65,536.
/// Errors: corrupt, when the header's version or count is wrong, or bytes are left over after the last whole id;
/// invalid_argument, when `dtype` is given and the header says another, or it cannot hold the vocabulary; io.
/// Cost: one read of 1 KiB.
Result<TokenFileInfo> try_inspect_token_file(const std::string& path, int64_t vocab_size,
                                             std::optional<DType> dtype = std::nullopt);

/// Reads ids from a token file at any position; each one returned is known to be inside the vocabulary.
///
/// Memory: kBufferBytes, whatever the file's size; nothing stays in the page cache. Order: one thread at a time.
class TokenFileReader {
 public:
  static constexpr int64_t kBufferBytes = 64 << 10;

  /// Requires: `info` from try_inspect_token_file for the same `vocab_size`. Errors: io.
  static Result<TokenFileReader> try_open(TokenFileInfo info, int64_t vocab_size);

  const TokenFileInfo& info() const { return info_; }

  /// Checks every id against the vocabulary, and that a file without header is not of the other dtype.
  ///
  /// Returns: the CRC-32C of the ids as they are stored. Errors: corrupt, naming the first bad id and its position.
  /// Cost: reads the file once.
  Result<uint32_t> try_check_ids();

  /// The ids [first, first + ids.size()). Requires: they exist.
  ///
  /// Errors: io; corrupt, when an id is outside the vocabulary (the file may have changed since it was checked).
  Status try_read(int64_t first, std::span<int32_t> ids);

 private:
  TokenFileReader(FileReader file, TokenFileInfo info, int64_t vocab_size);
  Status try_read_buffer(int64_t first, std::span<int32_t> ids);
  Status check_not_wider() const;
  Error outside_vocabulary(int64_t position, int64_t id) const;

  FileReader file_;
  TokenFileInfo info_;
  int64_t vocab_size_;
  std::vector<std::byte> buffer_;
};

/// Writes a token file with llm.c's header; it appears under its name when it is whole.
class TokenFileWriter {
 public:
  /// Requires: `dtype` is u16 or u32. Errors: io.
  static Result<TokenFileWriter> try_create(const std::string& path, DType dtype);

  /// Errors: io; invalid_argument, when an id is negative or does not fit the dtype, naming its position.
  Status try_append(std::span<const int32_t> ids);

  /// Puts the count into the header and the file in place. Errors: io; unsupported above 2^31 - 1 ids (the header's
  /// count).
  Status try_finish();

  int64_t count() const { return count_; }

 private:
  TokenFileWriter(FileWriter file, DType dtype) : file_(std::move(file)), dtype_(dtype) {}
  template <class Word>
  Status try_append_as(std::span<const int32_t> ids);

  FileWriter file_;
  DType dtype_;
  int64_t count_ = 0;
};

/// u16 where every id of the vocabulary fits, else u32.
DType token_dtype(int64_t vocab_size);

}  // namespace plimsoll::formats
