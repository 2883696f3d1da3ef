// JSON to Program. A Reader knows the path of what it looks at; the first fault sticks and later reads give defaults,
// so that the parsing code needs no check after each field.
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "program/json.h"
#include "program/structure.h"

namespace plimsoll::program {
namespace {

using Json = nlohmann::json;

/// The first fault of a parse.
class Fault {
 public:
  void report(const std::string& path, const std::string& what) {
    if (!error_) error_ = corrupt("[program] " + (path.empty() ? "the text" : path) + " " + what);
  }
  bool is_set() const { return error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

class Reader {
 public:
  Reader(const Json& json, std::string path, Fault& fault) : json_(json), path_(std::move(path)), fault_(fault) {}

  void report(const std::string& what) const { fault_.report(path_, what); }

  /// Says which keys an object has: all of `required`, and none but those of `optional` besides.
  bool expect_object(std::initializer_list<const char*> required,
                     std::initializer_list<const char*> optional = {}) const {
    if (!json_.is_object()) return report("is no object"), false;
    for (const char* key : required)
      if (!json_.contains(key)) return report("has no '" + std::string(key) + "'"), false;
    std::set<std::string> known(required.begin(), required.end());
    known.insert(optional.begin(), optional.end());
    for (const auto& [key, value] : json_.items())
      if (!known.contains(key)) return report("has an unknown key '" + key + "'"), false;
    return true;
  }

  bool expect_array(size_t least, size_t most) const {
    if (json_.is_array() && json_.size() >= least && json_.size() <= most) return true;
    return report("is no list of the right length"), false;
  }

  bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
  size_t size() const { return json_.size(); }
  const Json& json() const { return json_; }

  Reader operator[](const char* key) const {
    static const Json kNull;
    return {has(key) ? json_.at(key) : kNull, path_.empty() ? key : path_ + "." + key, fault_};
  }
  Reader operator[](size_t index) const {
    static const Json kNull;
    const bool exists = json_.is_array() && index < json_.size();
    return {exists ? json_.at(index) : kNull, path_ + "[" + std::to_string(index) + "]", fault_};
  }

  template <class Int>
  Int to_int() const {
    const bool fits = json_.is_number_unsigned()
                          ? json_.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<Int>::max())
                          : json_.is_number_integer() && json_.get<int64_t>() >= std::numeric_limits<Int>::min();
    if (!fits) return report("is no integer in range"), Int{0};
    return json_.get<Int>();
  }

  std::string to_text() const {
    if (!json_.is_string()) return report("is no string"), std::string();
    return json_.get<std::string>();
  }

  template <class Enum>
  Enum to_enumerator(int count) const {
    const std::string name = to_text();
    for (int i = 0; i < count; ++i)
      if (to_string(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
    return report("is '" + name + "', which does not exist"), Enum{};
  }

  /// Calls `parse` for every element.
  template <class Parse>
  auto to_list(Parse parse) const -> std::vector<decltype(parse(*this))> {
    std::vector<decltype(parse(*this))> out;
    if (!json_.is_array()) return report("is no list"), out;
    out.reserve(json_.size());
    for (size_t i = 0; i < json_.size() && !fault_.is_set(); ++i) out.push_back(parse((*this)[i]));
    return out;
  }

 private:
  const Json& json_;
  std::string path_;
  Fault& fault_;
};

double parse_special_float(const Reader& in) {
  if (!in.expect_object({"float"})) return 0;
  const std::string name = in["float"].to_text();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "-inf") return -std::numeric_limits<double>::infinity();
  return in.report("is no float"), 0;
}

Attribute parse_attribute(const Reader& in) {
  const Json& json = in.json();
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_number_integer()) return in.to_int<int64_t>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) return in.to_list([](const Reader& entry) { return entry.to_int<int64_t>(); });
  return parse_special_float(in);
}

Attributes parse_attributes(const Reader& in) {
  Attributes out;
  if (!in.json().is_object()) return in.report("is no object"), out;
  for (const auto& [name, value] : in.json().items()) out.set(name, parse_attribute(in[name.c_str()]));
  return out;
}

Layout parse_layout(const Reader& in, int rank) {
  Layout out;
  if (!in.expect_object({}, {"order", "blocks"})) return out;
  if (in.has("order") && in["order"].expect_array(static_cast<size_t>(rank), static_cast<size_t>(rank))) {
    out.is_permuted = true;
    for (int i = 0; i < rank; ++i) out.order[i] = in["order"][static_cast<size_t>(i)].to_int<int8_t>();
  }
  if (!in.has("blocks") || !in["blocks"].expect_array(1, Layout::kMaxBlocks)) return out;
  for (size_t i = 0; i < in["blocks"].size(); ++i) {
    const Reader block = in["blocks"][i];
    if (!block.expect_array(2, 2)) return out;
    out.blocks[i] = {block[size_t{0}].to_int<int8_t>(), block[size_t{1}].to_int<int32_t>()};
    if (out.blocks[i].axis < 0) block.report("has a negative axis");
  }
  return out;
}

TensorDesc parse_desc(const Reader& in) {
  TensorDesc out;
  if (!in.expect_object({"dtype", "shape"}, {"layout"})) return out;
  const std::string dtype = in["dtype"].to_text();
  if (const auto parsed = try_parse_dtype(dtype))
    out.dtype = *parsed;
  else
    in["dtype"].report("is '" + dtype + "', which does not exist");
  if (!in["shape"].expect_array(0, Shape::kMaxRank)) return out;
  for (int64_t dim : in["shape"].to_list([](const Reader& entry) { return entry.to_int<int64_t>(); }))
    out.shape.push_back(dim);
  if (in.has("layout")) out.layout = parse_layout(in["layout"], out.shape.rank());
  return out;
}

InPlace parse_in_place(const Reader& in) {
  if (!in.expect_array(2, 2)) return {};
  return {in[size_t{0}].to_int<int>(), in[size_t{1}].to_int<int>()};
}

Kernel parse_kernel(const Reader& in) {
  Kernel out;
  if (!in.expect_object({"op", "srcs", "dsts"}, {"attributes", "accumulated_dsts", "workspace_bytes", "in_place"}))
    return out;
  out.op = in["op"].to_text();
  if (in.has("attributes")) out.attributes = parse_attributes(in["attributes"]);
  out.srcs = in["srcs"].to_list(parse_desc);
  out.dsts = in["dsts"].to_list(parse_desc);
  if (in.has("accumulated_dsts"))
    out.accumulated_dsts = in["accumulated_dsts"].to_list([](const Reader& entry) { return entry.to_int<int>(); });
  if (in.has("workspace_bytes")) out.workspace_bytes = in["workspace_bytes"].to_int<int64_t>();
  if (in.has("in_place")) out.in_place = in["in_place"].to_list(parse_in_place);
  return out;
}

Buffer parse_buffer(const Reader& in) {
  Buffer out;
  if (!in.expect_object({"name", "size_bytes", "category"}, {"origin"})) return out;
  out.name = in["name"].to_text();
  out.size_bytes = in["size_bytes"].to_int<int64_t>();
  out.category = in["category"].to_enumerator<Category>(kCategoryCount);
  if (in.has("origin")) out.origin = in["origin"].to_text();
  return out;
}

Residence parse_residence(const Reader& in) {
  Residence out;
  if (!in.expect_object({"buffer", "range", "space", "offset_bytes", "live"}, {"slots", "stride_bytes"})) return out;
  const Reader range = in["range"];
  const Reader live = in["live"];
  if (!range.expect_array(2, 2) || !live.expect_array(4, 4)) return out;
  out.buffer = in["buffer"].to_int<int>();
  out.begin_bytes = range[size_t{0}].to_int<int64_t>();
  out.end_bytes = range[size_t{1}].to_int<int64_t>();
  out.space = in["space"].to_enumerator<Space>(kSpaceCount);
  out.offset_bytes = in["offset_bytes"].to_int<int64_t>();
  if (in.has("slots")) out.slots = in["slots"].to_int<int>();
  if (in.has("stride_bytes")) out.stride_bytes = in["stride_bytes"].to_int<int64_t>();
  out.first = {live[size_t{0}].to_int<int>(), live[size_t{1}].to_int<int>()};
  out.last = {live[size_t{2}].to_int<int>(), live[size_t{3}].to_int<int>()};
  return out;
}

Operand parse_operand(const Reader& in) {
  if (!in.expect_array(5, 5)) return {};
  return {in[size_t{0}].to_int<int>(), in[size_t{1}].to_int<int64_t>(), in[size_t{2}].to_int<int64_t>(),
          in[size_t{3}].to_int<int>(), in[size_t{4}].to_enumerator<Role>(kRoleCount)};
}

Wait parse_wait(const Reader& in) {
  if (!in.expect_array(2, 3)) return {};
  const bool of_previous = in.size() == 3;
  if (of_previous && in[size_t{2}].to_text() != "previous") in[size_t{2}].report("is not 'previous'");
  return {in[size_t{0}].to_enumerator<Lane>(kLaneCount), in[size_t{1}].to_int<int>(), of_previous};
}

Instruction parse_instruction(const Reader& in) {
  Instruction out;
  if (!in.expect_object({"lane", "kind"}, {"kernel", "operands", "waits", "when", "label", "reason"})) return out;
  out.lane = in["lane"].to_enumerator<Lane>(kLaneCount);
  out.kind = in["kind"].to_enumerator<Kind>(kKindCount);
  if (in.has("kernel")) out.kernel = in["kernel"].to_int<int>();
  if (in.has("operands")) out.operands = in["operands"].to_list(parse_operand);
  if (in.has("waits")) out.waits = in["waits"].to_list(parse_wait);
  if (in.has("when")) out.when = in["when"].to_enumerator<When>(kWhenCount);
  if (in.has("label")) out.label = in["label"].to_text();
  if (in.has("reason")) out.reason = in["reason"].to_text();
  return out;
}

Segment parse_segment(const Reader& in) {
  if (!in.expect_object({"name", "trips", "instructions"})) return {};
  return {in["name"].to_text(), in["trips"].to_int<int64_t>(), in["instructions"].to_list(parse_instruction)};
}

StateEntry parse_state_entry(const Reader& in) {
  if (!in.expect_array(2, 2)) return {};
  return {in[size_t{0}].to_int<int>(), in[size_t{1}].to_int<int>()};
}

Output parse_output(const Reader& in) {
  if (!in.expect_array(5, 5)) return {};
  return {in[size_t{0}].to_text(), in[size_t{1}].to_int<int>(), in[size_t{2}].to_int<int64_t>(),
          in[size_t{3}].to_int<int64_t>(), in[size_t{4}].to_int<int>()};
}

Program parse(const Reader& in) {
  Program out;
  // Another version has other keys: say that first.
  if (in.has("format_version") && in["format_version"].json() != Json(Program::kFormatVersion))
    return in["format_version"].report("is not " + std::to_string(Program::kFormatVersion) + ", the only one known"),
           out;
  if (!in.expect_object({"format_version", "name", "compile_hash", "arena_bytes", "kernels", "buffers", "residences",
                         "segments", "entry_state", "exit_state", "outputs"}))
    return out;
  out.name = in["name"].to_text();
  out.compile_hash = in["compile_hash"].to_text();
  const Reader arenas = in["arena_bytes"];
  if (!arenas.expect_object({"device", "host", "pmem", "disk"})) return out;
  for (int space = 0; space < kSpaceCount; ++space)
    out.arena_bytes[space] = arenas[std::string(to_string(static_cast<Space>(space))).c_str()].to_int<int64_t>();
  out.kernels = in["kernels"].to_list(parse_kernel);
  out.buffers = in["buffers"].to_list(parse_buffer);
  out.residences = in["residences"].to_list(parse_residence);
  out.segments = in["segments"].to_list(parse_segment);
  out.entry_state = in["entry_state"].to_list(parse_state_entry);
  out.exit_state = in["exit_state"].to_list(parse_state_entry);
  out.outputs = in["outputs"].to_list(parse_output);
  return out;
}

}  // namespace

Result<Program> try_parse_program(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return corrupt("[program] the text is no JSON");
  Fault fault;
  Program program = parse(Reader(json, "", fault));
  if (fault.is_set()) return fault.error();
  PLIMSOLL_RETURN_IF_ERROR(check_structure(program));
  return program;
}

}  // namespace plimsoll::program
