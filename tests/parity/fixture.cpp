#include "fixture.h"

#include "formats/safetensors.h"

namespace plimsoll::parity {
namespace {

using formats::SafetensorsEntry;
using formats::SafetensorsReader;

template <class T>
std::vector<T> read(const SafetensorsReader& reader, const SafetensorsEntry& entry) {
  std::vector<T> out(static_cast<size_t>(entry.shape.numel()));
  reader.try_read(entry, std::as_writable_bytes(std::span(out))).value();
  return out;
}

}  // namespace

Fixture read_fixture(const std::string& name) {
  const auto reader = SafetensorsReader::try_open(PLIMSOLL_PARITY_DATA "/" + name + ".safetensors").value();
  Fixture out;
  const std::map<std::string, std::map<std::string, std::vector<float>>*> groups{
      {"weight", &out.weights}, {"gradient", &out.gradients}, {"loss", &out.losses}, {"norm", &out.norms}};
  for (const SafetensorsEntry& entry : reader.header().entries) {
    if (entry.dtype == DType::kI32) {
      out.batches = entry.shape[0];
      out.inputs[entry.name] = {read<int32_t>(reader, entry), entry.shape.numel() / out.batches};
    } else {
      const size_t dot = entry.name.find('.');
      (*groups.at(entry.name.substr(0, dot)))[entry.name.substr(dot + 1)] = read<float>(reader, entry);
    }
  }
  return out;
}

}  // namespace plimsoll::parity
