#include "formats/token_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "core/check.h"
#include "formats/crc32c.h"

namespace plimsoll::formats {
namespace {

constexpr int64_t kHeaderWords = 256;
constexpr int64_t kHeaderBytes = kHeaderWords * 4;
constexpr int64_t kVocabularyOfU16 = 65'536;

struct Flavour {
  int32_t magic;
  int32_t version;
  DType dtype;
};
constexpr std::array<Flavour, 2> kFlavours{{{20240520, 1, DType::kU16}, {20240801, 7, DType::kU32}}};

using Header = std::array<int32_t, kHeaderWords>;

const Flavour* find_flavour(int32_t magic) {
  const auto* found = std::find_if(kFlavours.begin(), kFlavours.end(), [&](auto& f) { return f.magic == magic; });
  return found == kFlavours.end() ? nullptr : found;
}

// The flavour that the file's first word names, or nullptr for a file without header.
Result<const Flavour*> try_read_flavour(const FileReader& file, Header& header) {
  if (file.size_bytes() < 4) return nullptr;
  PLIMSOLL_RETURN_IF_ERROR(file.try_read(0, std::as_writable_bytes(std::span(header).first(1))));
  const Flavour* flavour = find_flavour(header[0]);
  if (flavour == nullptr) return nullptr;
  if (file.size_bytes() < kHeaderBytes) {
    return corrupt(file.path() + " ends inside its token file header: " + std::to_string(file.size_bytes()) +
                   " bytes, a header has 1024");
  }
  PLIMSOLL_RETURN_IF_ERROR(file.try_read(0, std::as_writable_bytes(std::span(header))));
  if (header[1] != flavour->version) {
    return corrupt(file.path() + " has a token file header of version " + std::to_string(header[1]) + "; for magic " +
                   std::to_string(flavour->magic) + " only version " + std::to_string(flavour->version) + " is known");
  }
  return flavour;
}

Status check_size(const TokenFileInfo& info, int64_t file_bytes, const Header& header) {
  const int64_t data_bytes = file_bytes - info.data_offset;
  const int64_t word = plimsoll::size_bytes(info.dtype);
  if (data_bytes % word != 0) {
    return corrupt(info.path + " holds " + std::to_string(data_bytes) + " bytes of ids, no whole number of " +
                   std::string(to_string(info.dtype)) + " (" + std::to_string(word) +
                   " bytes each): it is cut off, or of another dtype");
  }
  if (info.has_header() && header[2] != info.count) {
    return corrupt(info.path + ": its header says " + std::to_string(header[2]) + " ids, the file holds " +
                   std::to_string(info.count) + "; it is cut off or damaged, make it again");
  }
  if (info.count == 0) return corrupt(info.path + " holds no ids");
  return {};
}

Status check_dtype(const TokenFileInfo& info, std::optional<DType> wanted, int64_t vocab_size) {
  if (wanted && *wanted != info.dtype) {
    return invalid_argument(info.path + " holds " + std::string(to_string(info.dtype)) + " ids by its header, not " +
                            std::string(to_string(*wanted)) + "; leave the dtype out");
  }
  if (info.dtype == DType::kU16 && !info.has_header() && vocab_size > kVocabularyOfU16) {
    return invalid_argument(info.path + ": u16 cannot hold the ids of a vocabulary of " + std::to_string(vocab_size) +
                            "; the file must be u32");
  }
  return {};
}

int64_t read_word(const std::byte* bytes, DType dtype) {
  uint32_t word = 0;  // little endian, as every machine that this is built for
  std::memcpy(&word, bytes, static_cast<size_t>(plimsoll::size_bytes(dtype)));
  return word;
}

}  // namespace

DType token_dtype(int64_t vocab_size) { return vocab_size <= kVocabularyOfU16 ? DType::kU16 : DType::kU32; }

Result<TokenFileInfo> try_inspect_token_file(const std::string& path, int64_t vocab_size, std::optional<DType> dtype) {
  if (dtype && *dtype != DType::kU16 && *dtype != DType::kU32) {
    return invalid_argument("[token file] dtype " + std::string(to_string(*dtype)) + " is none of u16, u32");
  }
  PLIMSOLL_ASSIGN(const FileReader file, FileReader::try_open(path));
  Header header{};
  PLIMSOLL_ASSIGN(const Flavour* flavour, try_read_flavour(file, header));
  TokenFileInfo info{.path = path};
  info.dtype = flavour != nullptr ? flavour->dtype : dtype.value_or(token_dtype(vocab_size));
  info.data_offset = flavour != nullptr ? kHeaderBytes : 0;
  info.count = (file.size_bytes() - info.data_offset) / plimsoll::size_bytes(info.dtype);
  PLIMSOLL_RETURN_IF_ERROR(check_size(info, file.size_bytes(), header));
  PLIMSOLL_RETURN_IF_ERROR(check_dtype(info, dtype, vocab_size));
  return info;
}

TokenFileReader::TokenFileReader(FileReader file, TokenFileInfo info, int64_t vocab_size)
    : file_(std::move(file)), info_(std::move(info)), vocab_size_(vocab_size), buffer_(kBufferBytes) {}

Result<TokenFileReader> TokenFileReader::try_open(TokenFileInfo info, int64_t vocab_size) {
  PLIMSOLL_CHECK(vocab_size > 0 && vocab_size <= std::numeric_limits<int32_t>::max(), vocab_size);
  PLIMSOLL_ASSIGN(FileReader file, FileReader::try_open(info.path));
  return TokenFileReader(std::move(file), std::move(info), vocab_size);
}

Result<uint32_t> TokenFileReader::try_check_ids() {
  PLIMSOLL_RETURN_IF_ERROR(check_not_wider());
  uint32_t checksum = 0;
  std::vector<int32_t> ids(static_cast<size_t>(kBufferBytes / plimsoll::size_bytes(info_.dtype)));
  for (int64_t first = 0; first < info_.count; first += static_cast<int64_t>(ids.size())) {
    const int64_t count = std::min(static_cast<int64_t>(ids.size()), info_.count - first);
    PLIMSOLL_RETURN_IF_ERROR(try_read_buffer(first, std::span(ids).first(static_cast<size_t>(count))));
    checksum =
        crc32c(std::span(buffer_).first(static_cast<size_t>(count * plimsoll::size_bytes(info_.dtype))), checksum);
  }
  return checksum;
}

// u32 ids read as u16 alternate between a low and a high half, and the high half of a vocabulary below 262,144 is at
// most 3. Where the low halves are all inside the vocabulary nothing else would tell.
Status TokenFileReader::check_not_wider() const {
  constexpr int64_t kLeastIds = 64;
  constexpr int kHighestHalf = 3;
  if (info_.has_header() || info_.dtype != DType::kU16 || info_.count < kLeastIds || info_.count % 2 != 0) return {};
  std::array<uint16_t, 4096> words{};
  const auto count = static_cast<size_t>(std::min<int64_t>(info_.count, words.size()));
  PLIMSOLL_RETURN_IF_ERROR(file_.try_read(0, std::as_writable_bytes(std::span(words).first(count))));
  int highest_even = 0;
  int highest_odd = 0;
  for (size_t i = 0; i < count; ++i) {
    int& highest = i % 2 == 0 ? highest_even : highest_odd;
    highest = std::max(highest, int{words[i]});
  }
  if (highest_odd > kHighestHalf || highest_even <= kHighestHalf) return {};
  return corrupt(info_.path + " looks like u32 ids read as u16: every second id from position 1 on is " +
                 std::to_string(kHighestHalf) + " or less; set its dtype to u32");
}

Status TokenFileReader::try_read(int64_t first, std::span<int32_t> ids) {
  PLIMSOLL_CHECK(first >= 0 && first + static_cast<int64_t>(ids.size()) <= info_.count, first, " of ", info_.count);
  const auto most = static_cast<size_t>(kBufferBytes / plimsoll::size_bytes(info_.dtype));
  while (!ids.empty()) {
    const size_t count = std::min(most, ids.size());
    PLIMSOLL_RETURN_IF_ERROR(try_read_buffer(first, ids.first(count)));
    ids = ids.subspan(count);
    first += static_cast<int64_t>(count);
  }
  return {};
}

Status TokenFileReader::try_read_buffer(int64_t first, std::span<int32_t> ids) {
  const auto word = static_cast<size_t>(plimsoll::size_bytes(info_.dtype));
  const auto bytes = std::span(buffer_).first(ids.size() * word);
  PLIMSOLL_RETURN_IF_ERROR(file_.try_read(info_.data_offset + first * static_cast<int64_t>(word), bytes));
  for (size_t i = 0; i < ids.size(); ++i) {
    const int64_t id = read_word(bytes.data() + i * word, info_.dtype);
    if (id >= vocab_size_) return outside_vocabulary(first + static_cast<int64_t>(i), id);
    ids[i] = static_cast<int32_t>(id);
  }
  return {};
}

Error TokenFileReader::outside_vocabulary(int64_t position, int64_t id) const {
  return corrupt(info_.path + ": id " + std::to_string(id) + " at position " + std::to_string(position) +
                 " is outside the vocabulary of " + std::to_string(vocab_size_) + " (read as " +
                 std::string(to_string(info_.dtype)) + "); use the model's tokenizer, or set the file's dtype");
}

Result<TokenFileWriter> TokenFileWriter::try_create(const std::string& path, DType dtype) {
  PLIMSOLL_CHECK(dtype == DType::kU16 || dtype == DType::kU32, to_string(dtype));
  PLIMSOLL_ASSIGN(FileWriter file, FileWriter::try_create(path));
  const Header header{};  // filled in at the end, when the count is known
  PLIMSOLL_RETURN_IF_ERROR(file.try_append(std::as_bytes(std::span(header))));
  return TokenFileWriter(std::move(file), dtype);
}

Status TokenFileWriter::try_append(std::span<const int32_t> ids) {
  return dtype_ == DType::kU16 ? try_append_as<uint16_t>(ids) : try_append_as<uint32_t>(ids);
}

template <class Word>
Status TokenFileWriter::try_append_as(std::span<const int32_t> ids) {
  std::array<Word, 1024> words;
  while (!ids.empty()) {
    const size_t count = std::min(words.size(), ids.size());
    for (size_t i = 0; i < count; ++i) {
      if (ids[i] < 0 || int64_t{ids[i]} > int64_t{std::numeric_limits<Word>::max()}) {
        return invalid_argument("[token file] id " + std::to_string(ids[i]) + " at position " +
                                std::to_string(count_ + static_cast<int64_t>(i)) + " does not fit " +
                                std::string(to_string(dtype_)));
      }
      words[i] = static_cast<Word>(ids[i]);
    }
    PLIMSOLL_RETURN_IF_ERROR(file_.try_append(std::as_bytes(std::span(words).first(count))));
    count_ += static_cast<int64_t>(count);
    ids = ids.subspan(count);
  }
  return {};
}

Status TokenFileWriter::try_finish() {
  if (count_ > std::numeric_limits<int32_t>::max()) {
    return unsupported("[token file] " + std::to_string(count_) +
                       " ids are more than the header can count (2147483647)");
  }
  const auto* flavour = std::find_if(kFlavours.begin(), kFlavours.end(), [&](auto& f) { return f.dtype == dtype_; });
  const std::array<int32_t, 3> head{flavour->magic, flavour->version, static_cast<int32_t>(count_)};
  PLIMSOLL_RETURN_IF_ERROR(file_.try_overwrite(0, std::as_bytes(std::span(head))));
  return file_.try_finish();
}

}  // namespace plimsoll::formats
