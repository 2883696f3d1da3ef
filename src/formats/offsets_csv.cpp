#include "formats/offsets_csv.h"

#include <charconv>
#include <cstddef>
#include <span>
#include <unordered_set>

#include "formats/file_reader.h"

namespace plimsoll::formats {
namespace {

constexpr std::string_view kHeader[] = {"id", "lower", "upper", "size"};
constexpr size_t kMostQuotedBytes = 40;  // of a damaged field, in a message that must stay one line

struct Line {
  const std::string& name;
  int64_t number;

  Error error(const std::string& what) const { return corrupt(name + ":" + std::to_string(number) + ": " + what); }
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

std::string quoted(std::string_view field) {
  std::string out = "'";
  for (char c : field.substr(0, kMostQuotedBytes)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (field.size() > kMostQuotedBytes ? "...'" : "'");
}

Result<int64_t> try_integer(const Line& line, std::string_view column, std::string_view field) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (field.empty() || code != std::errc() || end != field.data() + field.size()) {
    return line.error(std::string(column) + " is " + quoted(field) + "; expected an integer of at most 64 bits");
  }
  return value;
}

Status check_header(const Line& line, std::span<const std::string_view> fields) {
  const bool matches = fields.size() == std::size(kHeader) && std::equal(fields.begin(), fields.end(), kHeader);
  if (!matches) return line.error("the first line must be 'id,lower,upper,size'");
  return {};
}

Result<OffsetRow> try_row(const Line& line, std::span<const std::string_view> fields) {
  if (fields.size() != std::size(kHeader)) {
    return line.error(std::to_string(fields.size()) + " fields; expected 4: id,lower,upper,size");
  }
  if (fields[0].empty()) return line.error("the id is empty");
  OffsetRow row{std::string(fields[0])};
  PLIMSOLL_ASSIGN(row.lower, try_integer(line, "lower", fields[1]));
  PLIMSOLL_ASSIGN(row.upper, try_integer(line, "upper", fields[2]));
  PLIMSOLL_ASSIGN(row.size, try_integer(line, "size", fields[3]));
  if (row.lower >= row.upper) {
    return line.error("lifetime [" + std::to_string(row.lower) + ", " + std::to_string(row.upper) +
                      ") is empty; upper must be greater than lower");
  }
  if (row.size < 0) return line.error("size is " + std::to_string(row.size) + "; expected 0 or more");
  return row;
}

}  // namespace

Result<std::vector<OffsetRow>> try_parse_offsets_csv(std::string_view text, const std::string& name) {
  std::vector<OffsetRow> rows;
  std::unordered_set<std::string> ids;
  bool has_header = false;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // which spreadsheets put in front
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (Line line{name, 1}; !text.empty(); ++line.number) {
    const size_t newline = text.find('\n');
    const std::string_view content = trim(text.substr(0, newline));
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (content.empty()) continue;
    const std::vector<std::string_view> fields = split_fields(content);
    if (!has_header) {
      PLIMSOLL_RETURN_IF_ERROR(check_header(line, fields));
      has_header = true;
      continue;
    }
    PLIMSOLL_ASSIGN(OffsetRow row, try_row(line, fields));
    if (!ids.insert(row.id).second) return line.error("id " + quoted(row.id) + " occurs twice");
    rows.push_back(std::move(row));
  }
  if (!has_header) return corrupt(name + ": empty; the first line must be 'id,lower,upper,size'");
  return rows;
}

Result<std::vector<OffsetRow>> try_read_offsets_csv(const std::string& path) {
  PLIMSOLL_ASSIGN(const FileReader file, FileReader::try_open(path));
  std::string text(static_cast<size_t>(file.size_bytes()), '\0');
  PLIMSOLL_RETURN_IF_ERROR(file.try_read(0, std::as_writable_bytes(std::span(text))));
  return try_parse_offsets_csv(text, path);
}

}  // namespace plimsoll::formats
