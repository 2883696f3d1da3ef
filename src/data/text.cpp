#include "data/text.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <span>

#include "core/check.h"
#include "data/utf8.h"

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
    if (entry->path().extension() == ".txt" && entry->is_regular_file()) files.push_back(entry->path().string());
  }
  if (failure) return io_error("cannot read folder " + folder + ": " + failure.message());
  if (files.empty()) return invalid_argument("folder " + folder + " holds no .txt file");
  std::sort(files.begin(), files.end());
  return files;
}

Status try_add_file(const std::string& path, TextPart& part) {
  PLIMSOLL_ASSIGN(const FileReader file, FileReader::try_open(path));
  if (file.size_bytes() > 0) part.push_back({path, 0, file.size_bytes()});
  return {};
}

Result<TextPart> try_find(const std::vector<std::string>& paths) {
  TextPart part;
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

Result<TextSplit> try_cut(TextPart all, double fraction, const std::string& separator) {
  const auto wanted = static_cast<int64_t>(static_cast<double>(size_bytes(all)) * (1 - fraction));
  int64_t before = 0;
  size_t i = 0;
  while (i + 1 < all.size() && before + all[i].end <= wanted) before += all[i++].end;
  PLIMSOLL_ASSIGN(const int64_t cut, try_find_cut(all[i], wanted - before, separator, i + 1 == all.size()));
  TextSplit split;
  split.train.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i));
  if (cut > 0) split.train.push_back({all[i].path, 0, cut});
  if (cut < all[i].end) split.validation.push_back({all[i].path, cut, all[i].end});
  split.validation.insert(split.validation.end(), all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end());
  return split;
}

}  // namespace

int64_t size_bytes(const TextPart& part) {
  return std::accumulate(part.begin(), part.end(), int64_t{0},
                         [](int64_t sum, const TextRange& range) { return sum + range.end - range.begin; });
}

Result<TextSplit> try_split_text(const TextOptions& options) {
  if (!(options.validation_fraction >= 0 && options.validation_fraction < 1)) {
    return invalid_argument("[text] validation_fraction " + std::to_string(options.validation_fraction) +
                            " is out of range; expected 0 <= fraction < 1");
  }
  PLIMSOLL_ASSIGN(TextPart all, try_find(options.paths));
  if (!options.validation_paths.empty()) {
    PLIMSOLL_ASSIGN(TextPart validation, try_find(options.validation_paths));
    return TextSplit{std::move(all), std::move(validation)};
  }
  if (options.validation_fraction == 0) return TextSplit{std::move(all), {}};
  const int64_t size = size_bytes(all);
  PLIMSOLL_ASSIGN(TextSplit split, try_cut(std::move(all), options.validation_fraction, options.separator));
  if (split.train.empty() || split.validation.empty()) {
    return invalid_argument(
        "[text] " + std::to_string(size) + " bytes of text cannot be split: a validation_fraction of " +
        std::to_string(options.validation_fraction) + " leaves one side empty; give validation text");
  }
  return split;
}

TextReader::TextReader(TextPart part, std::string separator)
    : part_(std::move(part)), separator_(std::move(separator)) {
  if (!part_.empty()) position_ = part_[0].begin;
}

Result<std::string_view> TextReader::try_next() {
  buffer_.erase(0, handed_);
  handed_ = 0;
  PLIMSOLL_RETURN_IF_ERROR(try_fill());
  const bool ends_part = range_ == part_.size();
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
  while (range_ < part_.size() && static_cast<int64_t>(buffer_.size()) < kChunkBytes) {
    const TextRange& range = part_[range_];
    if (!file_) {
      PLIMSOLL_ASSIGN(file_, FileReader::try_open(range.path));
    }
    const int64_t count = std::min(kChunkBytes - static_cast<int64_t>(buffer_.size()), range.end - position_);
    const size_t held = buffer_.size();
    buffer_.resize(held + static_cast<size_t>(count));
    PLIMSOLL_RETURN_IF_ERROR(file_->try_read(position_, std::as_writable_bytes(std::span(buffer_).subspan(held))));
    position_ += count;
    if (position_ < range.end) continue;
    file_.reset();
    if (++range_ == part_.size()) break;
    position_ = part_[range_].begin;
    if (!buffer_.ends_with(separator_)) buffer_ += separator_;
  }
  return {};
}

Status TextReader::check_is_text(std::string_view bytes, bool ends_part) const {
  if (bytes.empty()) return {};
  const std::string& path = part_[std::min(range_, part_.size() - 1)].path;
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

Result<std::string> try_read_all(const TextPart& part, const std::string& separator) {
  TextReader reader(part, separator);
  std::string text;
  while (true) {
    PLIMSOLL_ASSIGN(const std::string_view chunk, reader.try_next());
    if (chunk.empty()) return text;
    text += chunk;
  }
}

}  // namespace plimsoll::data
