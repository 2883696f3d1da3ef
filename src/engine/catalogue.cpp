#include "engine/catalogue.h"

#include <algorithm>

namespace plimsoll::engine {
namespace {

std::string key_of(const program::Kernel& kernel) {
  std::string out = kernel.op + to_string(kernel.attributes);
  for (const TensorDesc& src : kernel.srcs) out += " " + to_string(src);
  out += " ->";
  for (const TensorDesc& dst : kernel.dsts) out += " " + to_string(dst);
  for (int dst : kernel.accumulated_dsts) out += " +" + std::to_string(dst);
  return out;
}

}  // namespace

Result<int> Catalogue::prepare(program::Kernel spec) {
  const auto [it, is_new] = index_by_key_.emplace(key_of(spec), size());
  if (!is_new) return it->second;
  auto entry = std::make_unique<Entry>();
  auto kernel = main_.prepare(spec);
  if (!kernel.ok()) {
    entry->refusal = kernel.error().message;
    kernel = fallback_.prepare(spec);
  }
  if (!kernel.ok()) {
    index_by_key_.erase(it);
    return kernel.error();
  }
  entry->kernel = std::move(kernel).value();
  spec.workspace_bytes = entry->kernel->workspace_bytes();
  const ops::Cost cost = ops::cost_of(ops_.at(spec.op), {spec.srcs, spec.dsts, spec.attributes});
  entry->duration_ns = 1e9 * std::max(static_cast<double>(cost.flops) / rates_.flops_per_s,
                                      static_cast<double>(cost.bytes) / rates_.bytes_per_s);
  entry->spec = std::move(spec);
  entries_.push_back(std::move(entry));
  return size() - 1;
}

}  // namespace plimsoll::engine
