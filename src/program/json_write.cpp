// Program to JSON; json_parse.cpp is the way back.
#include <nlohmann/json.hpp>

#include "program/json.h"

namespace plimsoll::program {
namespace {

using Json = nlohmann::ordered_json;

/// Never throws: a byte that is not UTF-8 is replaced.
std::string print(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json to_json_value(const Attribute& attribute) {
  if (const auto* number = std::get_if<double>(&attribute); number != nullptr && !std::isfinite(*number))
    return Json{{"float", std::isnan(*number) ? "nan" : *number < 0 ? "-inf" : "inf"}};
  return std::visit([](const auto& value) { return Json(value); }, attribute);
}

Json to_json_value(const Layout& layout, int rank) {
  Json out = Json::object();
  if (layout.is_permuted) out["order"] = std::vector<int>(layout.order.begin(), layout.order.begin() + rank);
  for (const Layout::Block& block : layout.blocks)
    if (block.axis >= 0) out["blocks"].push_back({static_cast<int>(block.axis), block.size});
  return out;
}

Json to_json_value(const std::vector<TensorDesc>& descs) {
  Json out = Json::array();
  for (const TensorDesc& desc : descs) {
    Json entry{{"dtype", to_string(desc.dtype)}};
    entry["shape"] = std::vector<int64_t>(desc.shape.dims().begin(), desc.shape.dims().end());
    if (!desc.layout.is_plain()) entry["layout"] = to_json_value(desc.layout, desc.shape.rank());
    out.push_back(std::move(entry));
  }
  return out;
}

Json to_json_value(const Kernel& kernel) {
  Json out{{"op", kernel.op}};
  for (const auto& [name, value] : kernel.attributes) out["attributes"][name] = to_json_value(value);
  out["srcs"] = to_json_value(kernel.srcs);
  out["dsts"] = to_json_value(kernel.dsts);
  if (!kernel.accumulated_dsts.empty()) out["accumulated_dsts"] = kernel.accumulated_dsts;
  if (kernel.workspace_bytes != 0) out["workspace_bytes"] = kernel.workspace_bytes;
  for (const InPlace& pair : kernel.in_place) out["in_place"].push_back(Json::array({pair.dst, pair.src}));
  return out;
}

Json to_json_value(const Buffer& buffer) {
  Json out{{"name", buffer.name}, {"size_bytes", buffer.size_bytes}, {"category", to_string(buffer.category)}};
  if (!buffer.origin.empty()) out["origin"] = buffer.origin;
  return out;
}

Json to_json_value(const Residence& residence) {
  Json out{{"buffer", residence.buffer}};
  out["range"] = {residence.begin_bytes, residence.end_bytes};
  out["space"] = to_string(residence.space);
  out["offset_bytes"] = residence.offset_bytes;
  if (residence.slots != 1) out["slots"] = residence.slots;
  if (residence.stride_bytes != 0) out["stride_bytes"] = residence.stride_bytes;
  out["live"] = {residence.first.segment, residence.first.index, residence.last.segment, residence.last.index};
  return out;
}

Json to_json_value(const Operand& operand) {
  return Json::array(
      {operand.residence, operand.begin_bytes, operand.end_bytes, operand.version, to_string(operand.role)});
}

Json to_json_value(const Wait& wait) {
  Json out = Json::array({to_string(wait.lane), wait.index});
  if (wait.of_previous_iteration) out.push_back("previous");
  return out;
}

Json to_json_value(const Instruction& instruction) {
  Json out{{"lane", to_string(instruction.lane)}, {"kind", to_string(instruction.kind)}};
  if (instruction.kernel != -1) out["kernel"] = instruction.kernel;
  for (const Operand& operand : instruction.operands) out["operands"].push_back(to_json_value(operand));
  for (const Wait& wait : instruction.waits) out["waits"].push_back(to_json_value(wait));
  if (instruction.when != When::kAlways) out["when"] = to_string(instruction.when);
  if (!instruction.label.empty()) out["label"] = instruction.label;
  if (!instruction.reason.empty()) out["reason"] = instruction.reason;
  return out;
}

Json to_json_value(const StateEntry& entry) { return Json::array({entry.residence, entry.version}); }

Json to_json_value(const Output& output) {
  return Json::array({output.name, output.residence, output.begin_bytes, output.end_bytes, output.version});
}

/// "[", one element a line, "]".
template <class Element>
std::string print_list(const std::vector<Element>& elements) {
  std::string out = "[";
  for (size_t i = 0; i < elements.size(); ++i) out += (i > 0 ? ",\n " : "\n ") + print(to_json_value(elements[i]));
  return out + (elements.empty() ? "]" : "\n]");
}

std::string print_segments(const std::vector<Segment>& segments) {
  std::string out = "[";
  for (size_t i = 0; i < segments.size(); ++i) {
    out += (i > 0 ? ",\n{\"name\":" : "\n{\"name\":") + print(segments[i].name);
    out += ",\"trips\":" + std::to_string(segments[i].trips);
    out += ",\"instructions\":" + print_list(segments[i].instructions) + "}";
  }
  return out + (segments.empty() ? "]" : "\n]");
}

}  // namespace

std::string to_json(const Program& program) {
  Json arenas = Json::object();
  for (int space = 0; space < kSpaceCount; ++space)
    arenas[std::string(to_string(static_cast<Space>(space)))] = program.arena_bytes[space];
  std::string out = "{\"format_version\":" + std::to_string(program.format_version);
  out += ",\n\"name\":" + print(program.name);
  out += ",\n\"compile_hash\":" + print(program.compile_hash);
  out += ",\n\"arena_bytes\":" + print(arenas);
  out += ",\n\"kernels\":" + print_list(program.kernels);
  out += ",\n\"buffers\":" + print_list(program.buffers);
  out += ",\n\"residences\":" + print_list(program.residences);
  out += ",\n\"segments\":" + print_segments(program.segments);
  out += ",\n\"entry_state\":" + print_list(program.entry_state);
  out += ",\n\"exit_state\":" + print_list(program.exit_state);
  out += ",\n\"outputs\":" + print_list(program.outputs);
  return out + "}\n";
}

}  // namespace plimsoll::program
