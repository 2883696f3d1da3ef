#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/function_ref.h"
#include "core/result.h"
#include "core/shape.h"
#include "formats/file_reader.h"
#include "formats/file_writer.h"

namespace plimsoll::formats {

/// What a safetensors file says of one tensor; its elements lie plain (row-major) and little endian.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  int64_t offset = 0;  ///< bytes from the start of the data, at any alignment; what is written counts it itself

  /// The size, or nothing where it does not fit in int64.
  std::optional<int64_t> try_size_bytes() const;
  /// Requires: the size fits in int64, as it does in every header that was read.
  int64_t size_bytes() const { return shape.numel() * plimsoll::size_bytes(dtype); }
  friend bool operator==(const SafetensorsEntry&, const SafetensorsEntry&) = default;
};

/// The free strings of a file, its `__metadata__`.
using SafetensorsMetadata = std::map<std::string, std::string>;

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< as they lie in the file
  SafetensorsMetadata metadata;

  /// The entry of that name, or null.
  const SafetensorsEntry* find(std::string_view name) const;
};

/// No header may be longer: the format's own limit.
inline constexpr int64_t kSafetensorsHeaderLimitBytes = 100'000'000;

/// Reads the JSON part of a file whose data has `data_bytes`; `name` is for messages.
///
/// Accepted: every tensor's [begin, end) is shape × dtype, and together they cover the data without gap or overlap.
/// Errors: corrupt, naming the tensor and what is wrong (a name twice, offsets that contradict the shape, numbers that
/// are negative, fractional or too large, unknown keys, text that is no JSON); unsupported, for element types and ranks
/// that Plimsoll does not hold.
Result<SafetensorsHeader> try_parse_safetensors_header(std::string_view json, int64_t data_bytes,
                                                       const std::string& name);

/// Reads tensors of a safetensors file piece by piece into memory that the caller has.
///
/// Memory: the header while it is read, then its entries; nothing stays in the page cache.
/// Order: reads from several threads are safe.
/// Source: the format's description in the safetensors project.
class SafetensorsReader {
 public:
  static constexpr int64_t kChunkBytes = 4 << 20;

  /// Reads and checks the header; nothing is allocated for it before its length is known to lie inside the file.
  ///
  /// `header_checksum`, where it is known, is that of the writer. Errors: io; corrupt and unsupported as
  /// try_parse_safetensors_header, and corrupt for a length that the file has not or another checksum.
  static Result<SafetensorsReader> try_open(const std::string& path, std::optional<uint32_t> header_checksum = {});

  const SafetensorsHeader& header() const { return header_; }
  const std::string& path() const { return file_.path(); }

  /// Fills `out`, of any alignment, with the bytes of `entry`, in chunks of kChunkBytes; `on_chunk` sees each as it
  /// arrives, e.g. to sum it. Requires: `entry` is of this header and out.size() is its size. Errors: io.
  Status try_read(const SafetensorsEntry& entry, std::span<std::byte> out,
                  FunctionRef<void(std::span<const std::byte>)> on_chunk) const;
  Status try_read(const SafetensorsEntry& entry, std::span<std::byte> out) const {
    return try_read(entry, out, [](std::span<const std::byte>) {});
  }

 private:
  SafetensorsReader(FileReader file, SafetensorsHeader header, int64_t data_offset)
      : file_(std::move(file)), header_(std::move(header)), data_offset_(data_offset) {}

  FileReader file_;
  SafetensorsHeader header_;
  int64_t data_offset_;
};

/// Writes a safetensors file front to back; it appears under its name when it is whole.
///
/// Order: the same entries, metadata and bytes give the same file; entries stay in the order given.
/// Memory: the header until it is written, and FileWriter's buffer.
class SafetensorsWriter {
 public:
  /// Writes the header, padded so that the data starts at a multiple of 8. Offsets of `entries` are not read.
  ///
  /// Errors: invalid_argument for a name twice, the name `__metadata__`, a size that overflows, text that is no UTF-8,
  /// or a header above the limit; io.
  static Result<SafetensorsWriter> try_create(const std::string& path, std::span<const SafetensorsEntry> entries,
                                              const SafetensorsMetadata& metadata = {}, WriteCall write = {});

  /// The next bytes of the data: the tensors in the order of the entries, cut anywhere. Errors: io.
  Status try_append(std::span<const std::byte> bytes);

  /// Flushes to disk and puts the file in place. Requires: all data was appended. Errors: io.
  Status try_finish();

  int64_t size_bytes() const { return size_bytes_; }             ///< of the whole file
  uint32_t header_checksum() const { return header_checksum_; }  ///< CRC-32C of all that precedes the data

 private:
  SafetensorsWriter(FileWriter file, int64_t size_bytes, uint32_t header_checksum)
      : file_(std::move(file)), size_bytes_(size_bytes), header_checksum_(header_checksum) {}

  FileWriter file_;
  int64_t size_bytes_;
  uint32_t header_checksum_;
};

/// The size of the file that SafetensorsWriter would write. Errors: as try_create, without io.
Result<int64_t> try_safetensors_size_bytes(std::span<const SafetensorsEntry> entries,
                                           const SafetensorsMetadata& metadata = {});

}  // namespace plimsoll::formats
