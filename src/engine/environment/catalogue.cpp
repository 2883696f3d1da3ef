#include "engine/environment/catalogue.h"

#include <algorithm>

namespace plimsoll::engine {

std::string to_key(const program::Kernel& kernel) {
  std::string out = kernel.op + to_string(kernel.attributes);
  for (const TensorDesc& src : kernel.srcs) out += " " + to_string(src);
  out += " ->";
  for (const TensorDesc& dst : kernel.dsts) out += " " + to_string(dst);
  for (int dst : kernel.accumulated_dsts) out += " +" + std::to_string(dst);
  return out;
}

Result<int> Catalogue::prepare(program::Kernel spec) {
  std::string key = to_key(spec);
  if (const auto it = index_by_key_.find(key); it != index_by_key_.end()) return it->second;
  auto entry = std::make_shared<Entry>();
  auto kernel = main_.prepare(spec);
  if (!kernel.ok()) {
    entry->refusal = kernel.error().message;
    kernel = fallback_.prepare(spec);
  }
  if (!kernel.ok()) return kernel.error();
  entry->kernel = std::move(kernel).value();
  spec.workspace_bytes = entry->kernel->workspace_bytes();
  entry->cost = ops::cost_of(ops_.at(spec.op), {spec.srcs, spec.dsts, spec.attributes});
  entry->spec = std::move(spec);
  if (released_.empty()) {
    released_.push_back(static_cast<int>(entries_.size()));
    entries_.emplace_back();
  }
  const int index = released_.back();
  released_.pop_back();
  entries_[static_cast<size_t>(index)] = std::move(entry);
  index_by_key_.emplace(std::move(key), index);
  return index;
}

double Catalogue::duration_ns(int index) const {
  const ops::Cost& cost = entry(index).cost;
  return 1e9 * std::max(static_cast<double>(cost.flops) / rates_.flops_per_s,
                        static_cast<double>(cost.bytes) / rates_.bytes_per_s);
}

void Catalogue::release_unused() {
  std::erase_if(index_by_key_, [this](const auto& known) {
    std::shared_ptr<const Entry>& entry = entries_[static_cast<size_t>(known.second)];
    if (entry.use_count() > 1) return false;
    entry.reset();
    released_.push_back(known.second);
    return true;
  });
}

}  // namespace plimsoll::engine
