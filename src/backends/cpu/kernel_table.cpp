#include "backends/cpu/kernel_table.h"

#include <algorithm>

namespace plimsoll::backends::cpu {

void KernelTable::add(std::string op, Prepare prepare) {
  PLIMSOLL_CHECK(prepares_.emplace(op, std::move(prepare)).second, "two kernels for ", op);
}

const Prepare* KernelTable::find(std::string_view op) const {
  const auto it = prepares_.find(op);
  return it == prepares_.end() ? nullptr : &it->second;
}

std::vector<std::string> KernelTable::ops() const {
  std::vector<std::string> out;
  for (const auto& entry : prepares_) out.push_back(entry.first);
  return out;
}

void define_all(KernelTable& table);  // generated from the file names

KernelTable make_kernel_table() {
  KernelTable table;
  define_all(table);
  return table;
}

bool accumulates(const program::Kernel& kernel, int dst) {
  return std::find(kernel.accumulated_dsts.begin(), kernel.accumulated_dsts.end(), dst) !=
         kernel.accumulated_dsts.end();
}

Status check_plain(const program::Kernel& kernel) {
  for (const auto* descs : {&kernel.srcs, &kernel.dsts})
    for (const TensorDesc& desc : *descs)
      if (!desc.layout.is_plain())
        return unsupported("[" + kernel.op + "] " + to_string(desc) + ": the cpu kernel takes plain layouts only");
  return {};
}

Status check_plain_f32(const program::Kernel& kernel, std::initializer_list<size_t> others) {
  const auto refusal = [&](const char* what, size_t index, const TensorDesc& desc) {
    return unsupported("[" + kernel.op + "] " + what + " " + std::to_string(index) + " is " + to_string(desc) +
                       "; the cpu kernel takes f32 in the plain layout");
  };
  for (size_t i = 0; i < kernel.srcs.size(); ++i) {
    const TensorDesc& desc = kernel.srcs[i];
    const bool may_differ = std::find(others.begin(), others.end(), i) != others.end();
    if (!desc.layout.is_plain() || (!may_differ && desc.dtype != DType::kF32)) return refusal("src", i, desc);
  }
  for (size_t i = 0; i < kernel.dsts.size(); ++i) {
    const TensorDesc& desc = kernel.dsts[i];
    if (!desc.layout.is_plain() || desc.dtype != DType::kF32) return refusal("dst", i, desc);
  }
  return {};
}

}  // namespace plimsoll::backends::cpu
