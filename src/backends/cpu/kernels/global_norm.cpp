// global_norm: the norm of all gradients from their sums of squares, and the factor that clips it.
#include <cmath>

#include "backends/cpu/kernel_table.h"
#include "ops/reduction/global_norm.h"

namespace plimsoll::backends::cpu {
namespace {

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext&) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  return make_kernel(
      [max_norm = kernel.attributes.get_float("max_norm"), count = kernel.srcs.size()](const LaunchArgs& args) {
        double total = 0;
        for (size_t i = 0; i < count; ++i) total += static_cast<double>(*src<float>(args, i));
        const double norm = std::sqrt(total);
        *dst<float>(args, 0) = static_cast<float>(norm);
        *dst<float>(args, 1) = static_cast<float>(std::min(1.0, max_norm / (norm + ops::kNormFloor)));
      });
}

}  // namespace

void define_global_norm(KernelTable& table) { table.add("global_norm", prepare); }

}  // namespace plimsoll::backends::cpu
