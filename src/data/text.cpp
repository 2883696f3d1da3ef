#include "data/text.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <span>

#include "core/check.h"
#include "core/utf8.h"
#include "formats/file_checksum.h"

namespace plimsoll::data {
namespace {

namespace fs = std::filesystem;
using formats::FileReader;

// Every .txt below a folder, in the order of names, so that the order does not depend on the file system.
Result<std::vector<std::string>> try_list_folder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failure;
  fs::recursive_directory_iterator entry(folder, failure);
  for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
    if (entry->path().extension() != ".txt") continue;
    std::error_code fault;
    if (entry->is_regular_file(fault)) files.push_back(entry->path().string());
    if (fault) return io_error("cannot read " + entry->path().string() + ": " + fault.message());
  }
  if (failure) return io_error("cannot read folder " + folder + ": " + failure.message());
  if (files.empty()) return invalid_argument("folder " + folder + " holds no .txt file");
  std::sort(files.begin(), files.end());
  return files;
}

Status try_add_file(const std::string& path, TextPart& part) {
  PLIMSOLL_ASSIGN(const FileReader file, FileReader::try_open(path));
  if (file.size_bytes() > 0) part.ranges.push_back({path, 0, file.size_bytes()});
  return {};
}

Result<TextPart> try_find(const std::vector<std::string>& paths, const std::string& separator) {
  TextPart part{.ranges = {}, .separator = separator};
  for (const std::string& path : paths) {
    std::vector<std::string> files{path};
    std::error_code failure;
    if (fs::is_directory(path, failure)) {
      PLIMSOLL_ASSIGN(files, try_list_folder(path));
    }
    for (const std::string& file : files) PLIMSOLL_RETURN_IF_ERROR(try_add_file(file, part));
  }
  if (part.empty()) {
    return invalid_argument(paths.empty() ? "no text is given" : "the text in " + paths.front() + " is empty");
  }
  return part;
}

// Where the first `mark` at or behind `from` ends, or the end of the file.
Result<int64_t> try_find_end_of(const std::string& mark, const FileReader& file, int64_t from) {
  std::string window;
  int64_t start = std::max<int64_t>(0, from - static_cast<int64_t>(mark.size()));
  while (start < file.size_bytes()) {
    window.resize(static_cast<size_t>(std::min(TextReader::kChunkBytes, file.size_bytes() - start)));
    PLIMSOLL_RETURN_IF_ERROR(file.try_read(start, std::as_writable_bytes(std::span(window))));
    if (const size_t at = window.find(mark); at != std::string::npos) {
      return start + static_cast<int64_t>(at + mark.size());
    }
    if (start + static_cast<int64_t>(window.size()) == file.size_bytes()) break;
    start += static_cast<int64_t>(window.size() - (mark.size() - 1));  // the mark may lie across two windows
  }
  return file.size_bytes();
}

// A document's end in a file at or behind `from`; in the last file, whose end is no place to cut, a line's end.
Result<int64_t> try_find_cut(const TextRange& range, int64_t from, const std::string& separator, bool is_last) {
  PLIMSOLL_ASSIGN(const FileReader file, FileReader::try_open(range.path));
  for (const std::string& mark : {separator, std::string("\n")}) {
    if (mark.empty()) continue;
    PLIMSOLL_ASSIGN(const int64_t end, try_find_end_of(mark, file, from));
    if (end < range.end || !is_last) return end;
  }
  return from;
}

// The bytes before the last run of line ends; 0 where there is none but at the start.
size_t length_without_last_line(std::string_view text) {
  size_t end = text.rfind('\n');
  if (end == std::string_view::npos) return 0;
  while (end > 0 && text[end - 1] == '\n') --end;
  return end;
}

Result<TextSplit> try_cut(const TextPart& part, double fraction) {
  const auto wanted = static_cast<int64_t>(static_cast<double>(size_bytes(part)) * (1 - fraction));
  const std::vector<TextRange>& all = part.ranges;
  int64_t before = 0;
  size_t i = 0;
  while (i + 1 < all.size() && before + all[i].end <= wanted) before += all[i++].end;
  PLIMSOLL_ASSIGN(const int64_t cut, try_find_cut(all[i], wanted - before, part.separator, i + 1 == all.size()));
  TextSplit split{.train = {.ranges = {}, .separator = part.separator},
                  .validation = {.ranges = {}, .separator = part.separator}};
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(i);
  std::vector<TextRange>& train = split.train.ranges;
  std::vector<TextRange>& validation = split.validation.ranges;
  train.assign(all.begin(), middle);
  if (cut > 0) train.push_back({all[i].path, 0, cut});
  if (cut < all[i].end) validation.push_back({all[i].path, cut, all[i].end});
  validation.insert(validation.end(), middle + 1, all.end());
  return split;
}

}  // namespace

int64_t size_bytes(const TextPart& part) {
  return std::accumulate(part.ranges.begin(), part.ranges.end(), int64_t{0},
                         [](int64_t sum, const TextRange& range) { return sum + range.end - range.begin; });
}

Result<uint32_t> try_checksum(const TextPart& part) {
  uint32_t sum = 0;
  for (const TextRange& range : part.ranges) {
    PLIMSOLL_ASSIGN(const formats::FileReader file, formats::FileReader::try_open(range.path));
    PLIMSOLL_ASSIGN(sum, formats::try_checksum(file, range.begin, range.end, sum));
  }
  return sum;
}

Result<TextSplit> try_split_text(const TextOptions& options) {
  if (!(options.validation_fraction >= 0 && options.validation_fraction < 1)) {
    return invalid_argument("[text] validation_fraction " + std::to_string(options.validation_fraction) +
                            " is out of range; expected 0 <= fraction < 1");
  }
  PLIMSOLL_ASSIGN(TextPart all, try_find(options.paths, options.separator));
  if (!options.validation_paths.empty()) {
    PLIMSOLL_ASSIGN(TextPart validation, try_find(options.validation_paths, options.separator));
    return TextSplit{std::move(all), std::move(validation)};
  }
  if (options.validation_fraction == 0) return TextSplit{std::move(all), {}};
  const int64_t size = size_bytes(all);
  PLIMSOLL_ASSIGN(TextSplit split, try_cut(all, options.validation_fraction));
  if (split.train.empty() || split.validation.empty()) {
    return invalid_argument(
        "[text] " + std::to_string(size) + " bytes of text cannot be split: a validation_fraction of " +
        std::to_string(options.validation_fraction) + " leaves one side empty; give validation text");
  }
  return split;
}

TextReader::TextReader(TextPart part) : part_(std::move(part)) {
  if (!part_.empty()) position_ = part_.ranges[0].begin;
}

Result<std::string_view> TextReader::try_next() {
  buffer_.erase(0, handed_);
  handed_ = 0;
  PLIMSOLL_RETURN_IF_ERROR(try_fill());
  const bool ends_part = range_ == part_.ranges.size();
  std::string_view chunk = buffer_;
  if (!ends_part) {
    const size_t lines = length_without_last_line(chunk);
    chunk = lines > 0 ? chunk.substr(0, lines) : utf8_prefix(chunk, chunk.size() - 4);
  }
  PLIMSOLL_RETURN_IF_ERROR(check_is_text(chunk, ends_part));
  handed_ = chunk.size();
  return chunk;
}

// Fills the buffer to a chunk's size, or with all that is left.
Status TextReader::try_fill() {
  while (range_ < part_.ranges.size() && static_cast<int64_t>(buffer_.size()) < kChunkBytes) {
    const TextRange& range = part_.ranges[range_];
    if (!file_) {
      PLIMSOLL_ASSIGN(file_, FileReader::try_open(range.path));
    }
    const int64_t count = std::min(kChunkBytes - static_cast<int64_t>(buffer_.size()), range.end - position_);
    const size_t held = buffer_.size();
    buffer_.resize(held + static_cast<size_t>(count));
    PLIMSOLL_RETURN_IF_ERROR(file_->try_read(position_, std::as_writable_bytes(std::span(buffer_).subspan(held))));
    position_ += count;
    if (position_ < range.end) continue;
    PLIMSOLL_ASSIGN(const bool is_separated, try_find_separator_at_end(range));
    file_.reset();
    if (++range_ == part_.ranges.size()) break;
    position_ = part_.ranges[range_].begin;
    if (!is_separated) buffer_ += part_.separator;
  }
  return {};
}

// Looks into the file: the buffer may have handed out the separator's start.
Result<bool> TextReader::try_find_separator_at_end(const TextRange& range) const {
  const auto length = static_cast<int64_t>(part_.separator.size());
  if (range.end - range.begin < length) return false;
  std::string end(part_.separator.size(), '\0');
  PLIMSOLL_RETURN_IF_ERROR(file_->try_read(range.end - length, std::as_writable_bytes(std::span(end))));
  return end == part_.separator;
}

Status TextReader::check_is_text(std::string_view bytes, bool ends_part) const {
  if (bytes.empty()) return {};
  const std::string& path = part_.ranges[std::min(range_, part_.ranges.size() - 1)].path;
  if (bytes.find('\0') != std::string_view::npos) {
    return corrupt(path + " is no text: it holds a zero byte; give plain text, or a .bin file of token ids");
  }
  size_t wrong = 0;
  for (std::string_view rest = bytes; !rest.empty();) {
    const size_t length = utf8_length(rest);
    wrong += length == 0;
    rest.remove_prefix(std::max<size_t>(length, 1));
  }
  if (ends_part && wrong > 0 && wrong < 4) return {};  // the last character may be cut off
  if (wrong * 10 <= bytes.size()) return {};
  return corrupt(path + " is no text: " + std::to_string(wrong) + " of " + std::to_string(bytes.size()) +
                 " bytes read are not UTF-8; convert it to UTF-8");
}

}  // namespace plimsoll::data
