#include "engine/checkpoint/training_state.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "formats/crc32c.h"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kVersion = 2;

// One list says which counters there are, for both ways.
constexpr std::array<std::pair<const char*, int64_t TrainingState::*>, 4> kCounters{{
    {"step", &TrainingState::step},
    {"sample", &TrainingState::sample},
    {"total_samples", &TrainingState::total_samples},
    {"tokens", &TrainingState::tokens},
}};

// The last lines of the file: everything before them is summed.
std::string closing(std::string_view head) {
  return ",\n  \"checksum\": " + std::to_string(formats::crc32c(std::as_bytes(std::span(head)))) + "\n}\n";
}

Json to_json(const CheckpointFile& file) {
  return {{"size_bytes", file.size_bytes}, {"header_crc32c", file.header_checksum}, {"crc32c", file.checksums}};
}

Json to_json(const CheckpointRecord& record) {
  const TrainingState& state = record.state;
  Json counters;
  for (const auto& [name, counter] : kCounters) counters[name] = state.*counter;
  return {
      {"format", "plimsoll checkpoint"},
      {"version", kVersion},
      {"counters", counters},
      {"model", {{"name", state.model}, {"hash", state.model_hash}}},
      {"optimizer", {{"name", state.optimizer}}},
      {"compile_hash", state.compile_hash},
      {"data_crc32c", state.data_checksums},
      {"settings", state.settings},
      {"files", {{"model.safetensors", to_json(record.model)}, {"optimizer.safetensors", to_json(record.optimizer)}}}};
}

// Whole numbers of exactly that range; the library would turn 1.5 into 1 and 2^63 into -2^63.
template <class Int>
Int whole(const Json& json) {
  const uint64_t number = json.is_number_unsigned() ? json.get<uint64_t>() : std::numeric_limits<uint64_t>::max();
  if (!json.is_number_unsigned() || number > static_cast<uint64_t>(std::numeric_limits<Int>::max()))
    throw Json::other_error::create(501, "no whole number from 0 on", &json);
  return static_cast<Int>(number);
}

std::map<std::string, uint32_t> to_checksums(const Json& json) {
  std::map<std::string, uint32_t> sums;
  for (const auto& [name, sum] : json.items()) sums[name] = whole<uint32_t>(sum);
  return sums;
}

CheckpointFile to_file(const Json& json) {
  return {.size_bytes = whole<int64_t>(json.at("size_bytes")),
          .header_checksum = whole<uint32_t>(json.at("header_crc32c")),
          .checksums = to_checksums(json.at("crc32c"))};
}

CheckpointRecord to_record(const Json& json) {
  CheckpointRecord record;
  TrainingState& state = record.state;
  for (const auto& [name, counter] : kCounters) state.*counter = whole<int64_t>(json.at("counters").at(name));
  json.at("model").at("name").get_to(state.model);
  state.model_hash = whole<uint64_t>(json.at("model").at("hash"));
  json.at("optimizer").at("name").get_to(state.optimizer);
  json.at("compile_hash").get_to(state.compile_hash);
  if (json.contains("data_crc32c")) state.data_checksums = to_checksums(json.at("data_crc32c"));  // the first had none
  json.at("settings").get_to(state.settings);
  record.model = to_file(json.at("files").at("model.safetensors"));
  record.optimizer = to_file(json.at("files").at("optimizer.safetensors"));
  return record;
}

}  // namespace

Result<std::string> try_write_record(const CheckpointRecord& record) {
  try {
    std::string text = to_json(record).dump(2);
    text.resize(text.size() - 2);  // the last "\n}"
    return text + closing(text);
  } catch (const Json::type_error&) {
    return invalid_argument("a name or setting is not UTF-8");
  }
}

Result<CheckpointRecord> try_parse_record(std::string_view text) {
  const size_t end = text.rfind(",\n  \"checksum\": ");
  if (end == std::string_view::npos || text.substr(end) != closing(text.substr(0, end)))
    return corrupt("it is cut off or damaged");
  try {
    const Json json = Json::parse(text);
    if (const auto version = whole<int64_t>(json.at("version")); version != kVersion)
      return unsupported("it has version " + std::to_string(version) + " of the format; this program reads " +
                         std::to_string(kVersion));
    return to_record(json);
  } catch (const Json::exception& fault) {
    return corrupt(std::string("it is no state of a checkpoint: ") + fault.what());
  }
}

}  // namespace plimsoll::engine
