#include "formats/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "core/bytes.h"
#include "formats/crc32c.h"
#include "formats/safetensors_dtype.h"

namespace plimsoll::formats {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr int64_t kPrefixBytes = 8;

// A JSON string, quotes included.
Result<std::string> try_quote(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    return invalid_argument("a name or metadata is not UTF-8: " +
                            nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
}

Result<std::string> try_write_metadata(const SafetensorsMetadata& metadata) {
  std::string out = "\"__metadata__\":{";
  for (const auto& [key, value] : metadata) {
    PLIMSOLL_ASSIGN(const std::string key_text, try_quote(key));
    PLIMSOLL_ASSIGN(const std::string value_text, try_quote(value));
    if (out.back() != '{') out += ',';
    out += key_text + ":" + value_text;
  }
  return out + "}";
}

Result<std::string> try_write_entry(const SafetensorsEntry& entry, int64_t& end) {
  PLIMSOLL_ASSIGN(std::string out, try_quote(entry.name));
  const int64_t size = entry.try_size_bytes().value_or(-1);
  const int64_t begin = end;
  if (size < 0 || __builtin_add_overflow(begin, size, &end))
    return invalid_argument("tensor " + out + " " + to_string(entry.shape) + " has a size that overflows");
  out += ":{\"dtype\":\"" + std::string(to_safetensors_name(entry.dtype)) + "\",\"shape\":" + to_string(entry.shape) +
         ",\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
  return out;
}

struct Head {
  std::string text;  ///< prefix, JSON and padding: all that precedes the data
  int64_t file_bytes = 0;
};

Result<std::string> try_write_json(std::span<const SafetensorsEntry> entries, const SafetensorsMetadata& metadata,
                                   int64_t& data_bytes) {
  std::set<std::string_view> names{"__metadata__"};
  std::string json = "{";
  if (!metadata.empty()) {
    PLIMSOLL_ASSIGN(const std::string text, try_write_metadata(metadata));
    json += text;
  }
  for (const SafetensorsEntry& entry : entries) {
    if (!names.insert(entry.name).second)
      return invalid_argument("two tensors have the name '" + entry.name + "', or it is reserved");
    PLIMSOLL_ASSIGN(const std::string text, try_write_entry(entry, data_bytes));
    if (json.size() > 1) json += ',';
    json += text;
  }
  return json + "}";
}

Result<Head> try_write_head(std::span<const SafetensorsEntry> entries, const SafetensorsMetadata& metadata) {
  int64_t data_bytes = 0;
  PLIMSOLL_ASSIGN(std::string json, try_write_json(entries, metadata, data_bytes));
  json.resize(static_cast<size_t>(align_up(static_cast<int64_t>(json.size()), 8)), ' ');
  const auto length = static_cast<int64_t>(json.size());
  if (length > kSafetensorsHeaderLimitBytes)
    return invalid_argument("the header would have " + std::to_string(length) + " bytes; the format allows " +
                            std::to_string(kSafetensorsHeaderLimitBytes));
  std::array<char, kPrefixBytes> prefix{};
  std::memcpy(prefix.data(), &length, prefix.size());
  int64_t file_bytes = 0;
  if (__builtin_add_overflow(data_bytes, kPrefixBytes + length, &file_bytes))
    return invalid_argument("the file's size overflows");
  return Head{std::string(prefix.begin(), prefix.end()) + json, file_bytes};
}

}  // namespace

Result<SafetensorsReader> SafetensorsReader::try_open(const std::string& path,
                                                      std::optional<uint32_t> header_checksum) {
  PLIMSOLL_ASSIGN(FileReader file, FileReader::try_open(path));
  const int64_t left = file.size_bytes() - kPrefixBytes;
  if (left < 0) return corrupt(path + ": " + std::to_string(file.size_bytes()) + " bytes are too few for safetensors");
  uint64_t length = 0;
  PLIMSOLL_RETURN_IF_ERROR(file.try_read(0, std::as_writable_bytes(std::span(&length, 1))));
  if (length > static_cast<uint64_t>(left))
    return corrupt(path + ": the header should have " + std::to_string(length) + " bytes, the file has " +
                   std::to_string(left) + " left; it is cut off or no safetensors file");
  if (length > static_cast<uint64_t>(kSafetensorsHeaderLimitBytes))
    return corrupt(path + ": the header has " + std::to_string(length) + " bytes; the format allows " +
                   std::to_string(kSafetensorsHeaderLimitBytes));
  std::string json(static_cast<size_t>(length), '\0');
  PLIMSOLL_RETURN_IF_ERROR(file.try_read(kPrefixBytes, std::as_writable_bytes(std::span(json))));
  const uint32_t checksum = crc32c(std::as_bytes(std::span(json)), crc32c(std::as_bytes(std::span(&length, 1))));
  if (header_checksum && checksum != *header_checksum)
    return corrupt(path + " is damaged: the header does not match its checksum");
  const auto data_bytes = left - static_cast<int64_t>(length);
  PLIMSOLL_ASSIGN(SafetensorsHeader header, try_parse_safetensors_header(json, data_bytes, path));
  return SafetensorsReader(std::move(file), std::move(header), kPrefixBytes + static_cast<int64_t>(length));
}

Status SafetensorsReader::try_read(const SafetensorsEntry& entry, std::span<std::byte> out,
                                   FunctionRef<void(std::span<const std::byte>)> on_chunk) const {
  PLIMSOLL_CHECK(static_cast<int64_t>(out.size()) == entry.size_bytes(), entry.name, " ", out.size());
  for (size_t done = 0; done < out.size();) {
    const auto chunk = out.subspan(done, std::min(out.size() - done, static_cast<size_t>(kChunkBytes)));
    PLIMSOLL_RETURN_IF_ERROR(file_.try_read(data_offset_ + entry.offset + static_cast<int64_t>(done), chunk));
    on_chunk(chunk);
    done += chunk.size();
  }
  return {};
}

Result<SafetensorsWriter> SafetensorsWriter::try_create(const std::string& path,
                                                        std::span<const SafetensorsEntry> entries,
                                                        const SafetensorsMetadata& metadata, WriteCall write) {
  auto head = try_write_head(entries, metadata);
  if (!head.ok()) return head.error().with_context(path);
  FileWriter::Options options{.expected_bytes = head->file_bytes, .write = std::move(write)};
  PLIMSOLL_ASSIGN(FileWriter file, FileWriter::try_create(path, std::move(options)));
  PLIMSOLL_RETURN_IF_ERROR(file.try_append(head->text));
  return SafetensorsWriter(std::move(file), head->file_bytes, crc32c(std::as_bytes(std::span(head->text))));
}

Status SafetensorsWriter::try_append(std::span<const std::byte> bytes) { return file_.try_append(bytes); }

Status SafetensorsWriter::try_finish() {
  PLIMSOLL_CHECK(file_.size_bytes() == size_bytes_, file_.size_bytes(), " of ", size_bytes_);
  return file_.try_finish();
}

Result<int64_t> try_safetensors_size_bytes(std::span<const SafetensorsEntry> entries,
                                           const SafetensorsMetadata& metadata) {
  PLIMSOLL_ASSIGN(const Head head, try_write_head(entries, metadata));
  return head.file_bytes;
}

}  // namespace plimsoll::formats
