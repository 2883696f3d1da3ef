// The JSON of a safetensors file to entries, by events: a document tree of a 100 MB header would take gigabytes, and
// would keep only the last of two equal names.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/safetensors.h"
#include "formats/safetensors_dtype.h"

namespace plimsoll::formats {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadataKey = "__metadata__";

// A name from a file, short and without control characters, so that a message stays one line.
std::string in_quotes(std::string_view name) {
  constexpr size_t kMost = 80;
  std::string out = "'";
  for (char c : name.substr(0, kMost)) out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return out + (name.size() > kMost ? "…'" : "'");
}

/// What nlohmann's parser calls; false ends the parse, with `error` saying why.
class HeaderEvents {
 public:
  explicit HeaderEvents(std::string name) : name_(std::move(name)) {}

  std::optional<Error> error;
  std::vector<SafetensorsEntry> entries;
  std::vector<int64_t> ends;  ///< of each entry, as written
  SafetensorsMetadata metadata;

  bool null() { return unexpected("null"); }
  bool boolean(bool) { return unexpected("a boolean"); }
  bool number_float(double, const std::string& text) { return unexpected("the number " + text.substr(0, 40)); }
  bool number_integer(int64_t number) { return unexpected("the number " + std::to_string(number)); }
  bool binary(Json::binary_t&) { return unexpected("binary"); }
  bool number_unsigned(uint64_t number);
  bool string(std::string& text);
  bool key(std::string& text);
  bool start_object(size_t);
  bool end_object();
  bool start_array(size_t);
  bool end_array();
  bool parse_error(size_t position, const std::string&, const Json::exception&) {
    return fail("the header is no JSON at its byte " + std::to_string(position));
  }

 private:
  enum class Where { kStart, kTop, kMetadata, kTensor, kList };

  bool fail(const std::string& what) {
    if (!error) error = corrupt(name_ + ": " + what);
    return false;
  }
  bool refuse(const std::string& what) {
    error = unsupported(name_ + ": " + what);
    return false;
  }
  bool unexpected(const std::string& what) { return fail(place() + " holds " + what + expectation()); }
  std::string place() const;
  std::string expectation() const;
  bool read_dtype(const std::string& text);
  bool finish_tensor();

  std::string name_;
  Where where_ = Where::kStart;
  std::string tensor_;           ///< key at the top: a tensor's name, or the metadata
  std::string field_;            ///< key one level below
  std::set<std::string> names_;  ///< keys met at the top
  std::set<std::string> fields_;
  SafetensorsEntry entry_;
  std::vector<int64_t> list_;
  std::vector<int64_t> offsets_;
};

std::string HeaderEvents::place() const {
  switch (where_) {
    case Where::kStart: return "the header";
    case Where::kTop: return "the entry " + in_quotes(tensor_);
    case Where::kMetadata: return "metadata " + in_quotes(field_);
    case Where::kTensor:
    case Where::kList: return in_quotes(field_) + " of tensor " + in_quotes(tensor_);
  }
  return {};
}

std::string HeaderEvents::expectation() const {
  switch (where_) {
    case Where::kStart:
    case Where::kTop: return "; expected an object";
    case Where::kMetadata: return "; expected a string";
    case Where::kTensor: return field_ == "dtype" ? "; expected a string" : "; expected a list";
    case Where::kList: return "; expected whole numbers from 0 on";
  }
  return {};
}

bool HeaderEvents::number_unsigned(uint64_t number) {
  if (where_ != Where::kList || number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return unexpected("the number " + std::to_string(number));
  if (field_ == "shape" && list_.size() == Shape::kMaxRank)
    return refuse("tensor " + in_quotes(tensor_) + " has more than " + std::to_string(Shape::kMaxRank) + " dimensions");
  if (field_ == "data_offsets" && list_.size() == 2) return fail(place() + " has more than 2 numbers");
  list_.push_back(static_cast<int64_t>(number));
  return true;
}

bool HeaderEvents::string(std::string& text) {
  if (where_ == Where::kMetadata) {
    metadata[field_] = std::move(text);
    return true;
  }
  if (where_ == Where::kTensor && field_ == "dtype") return read_dtype(text);
  return unexpected("the string " + in_quotes(text));
}

bool HeaderEvents::read_dtype(const std::string& text) {
  if (const auto dtype = try_parse_safetensors_dtype(text)) {
    entry_.dtype = *dtype;
    return true;
  }
  if (is_foreign_safetensors_dtype(text))
    return refuse("tensor " + in_quotes(tensor_) + " has elements of type " + text + ", which Plimsoll does not hold");
  return fail("tensor " + in_quotes(tensor_) + " has the unknown dtype " + in_quotes(text));
}

bool HeaderEvents::key(std::string& text) {
  if (where_ == Where::kTop) {
    tensor_ = std::move(text);
    return names_.insert(tensor_).second || fail("duplicate key " + in_quotes(tensor_) + " in the header");
  }
  field_ = std::move(text);
  if (!fields_.insert(field_).second) return fail("duplicate key " + in_quotes(field_) + " in " + in_quotes(tensor_));
  if (where_ == Where::kMetadata || field_ == "dtype" || field_ == "shape" || field_ == "data_offsets") return true;
  return fail("tensor " + in_quotes(tensor_) + " has the unknown key " + in_quotes(field_));
}

bool HeaderEvents::start_object(size_t) {
  if (where_ == Where::kStart) {
    where_ = Where::kTop;
    return true;
  }
  if (where_ != Where::kTop) return unexpected("an object");
  where_ = tensor_ == kMetadataKey ? Where::kMetadata : Where::kTensor;
  fields_.clear();
  entry_ = {.name = tensor_};
  return true;
}

bool HeaderEvents::end_object() {
  if (where_ == Where::kTensor && !finish_tensor()) return false;
  where_ = where_ == Where::kTop ? Where::kStart : Where::kTop;
  return true;
}

bool HeaderEvents::start_array(size_t) {
  if (where_ != Where::kTensor || field_ == "dtype") return unexpected("a list");
  where_ = Where::kList;
  list_.clear();
  return true;
}

bool HeaderEvents::end_array() {
  where_ = Where::kTensor;
  if (field_ == "shape")
    entry_.shape = Shape(list_);
  else
    offsets_ = list_;
  return field_ == "shape" || list_.size() == 2 || fail(place() + " has not 2 numbers");
}

bool HeaderEvents::finish_tensor() {
  for (const char* field : {"dtype", "shape", "data_offsets"})
    if (!fields_.contains(field)) return fail("tensor " + in_quotes(tensor_) + " has no '" + field + "'");
  const int64_t size = entry_.try_size_bytes().value_or(-1);
  const std::string tensor =
      "tensor " + in_quotes(tensor_) + " " + std::string(to_string(entry_.dtype)) + to_string(entry_.shape);
  const std::string range = "[" + std::to_string(offsets_[0]) + "," + std::to_string(offsets_[1]) + ")";
  if (size < 0) return fail(tensor + " has a size that overflows");
  if (offsets_[1] < offsets_[0]) return fail(tensor + " ends before it begins: " + range);
  if (offsets_[1] - offsets_[0] != size)
    return fail(tensor + " takes " + std::to_string(size) + " bytes, but its offsets are " + range);
  entry_.offset = offsets_[0];
  entries.push_back(std::move(entry_));
  return true;
}

// Sorted by place, each tensor begins where the one before it ended, and the last ends with the data.
Status check_cover(const std::vector<SafetensorsEntry>& entries, int64_t data_bytes, const std::string& name) {
  int64_t end = 0;
  const std::string limit = "; the data has " + std::to_string(data_bytes) + " bytes";
  for (const SafetensorsEntry& entry : entries) {
    const std::string where = name + ": tensor " + in_quotes(entry.name) + " begins at " + std::to_string(entry.offset);
    if (entry.offset > end) return corrupt(where + ", after a gap from " + std::to_string(end) + limit);
    if (entry.offset < end)
      return corrupt(where + " and overlaps the one before, which ends at " + std::to_string(end));
    if (entry.size_bytes() > data_bytes - end)
      return corrupt(where + " and ends at " + std::to_string(end + entry.size_bytes()) + ", past the file" + limit);
    end += entry.size_bytes();
  }
  if (end != data_bytes) return corrupt(name + ": the tensors end at " + std::to_string(end) + limit);
  return {};
}

}  // namespace

Result<SafetensorsHeader> try_parse_safetensors_header(std::string_view json, int64_t data_bytes,
                                                       const std::string& name) {
  if (!json.starts_with('{')) return corrupt(name + ": the header does not begin with '{'; is it a safetensors file?");
  HeaderEvents events(name);
  Json::sax_parse(json, &events);
  if (events.error) return *events.error;
  std::ranges::sort(events.entries, [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tuple(a.offset, a.size_bytes(), std::string_view(a.name)) <
           std::tuple(b.offset, b.size_bytes(), std::string_view(b.name));
  });
  PLIMSOLL_RETURN_IF_ERROR(check_cover(events.entries, data_bytes, name));
  return SafetensorsHeader{std::move(events.entries), std::move(events.metadata)};
}

std::optional<int64_t> SafetensorsEntry::try_size_bytes() const {
  const std::optional<int64_t> count = shape.try_numel();
  return count ? checked_multiply(*count, plimsoll::size_bytes(dtype)) : std::nullopt;
}

const SafetensorsEntry* SafetensorsHeader::find(std::string_view name) const {
  const auto found = std::ranges::find(entries, name, &SafetensorsEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace plimsoll::formats
