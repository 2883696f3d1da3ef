// fill: a constant tensor.
#include <cstring>

#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

template <class T>
std::unique_ptr<Kernel> make_fill(double value, int64_t numel, ThreadPool& pool) {
  return make_kernel(
      [value = static_cast<T>(value), cut = cut_by_cost(numel, 1, kLineElements), &pool](const LaunchArgs& args) {
        run(pool, cut, [&](Range range, int64_t) { std::fill_n(dst<T>(args, 0) + range.begin, range.size(), value); });
      });
}

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  const double value = kernel.attributes.get_float("value");
  const int64_t numel = kernel.dsts[0].numel();
  switch (kernel.dsts[0].dtype) {
    case DType::kF32: return make_fill<float>(value, numel, context.pool);
    case DType::kF64: return make_fill<double>(value, numel, context.pool);
    case DType::kI32: return make_fill<int32_t>(value, numel, context.pool);
    case DType::kI64: return make_fill<int64_t>(value, numel, context.pool);
    case DType::kBool: return make_fill<uint8_t>(value != 0 ? 1 : 0, numel, context.pool);
    default:
      return unsupported("[fill] the cpu kernel fills f32, f64, i32, i64 and bool, not " + to_string(kernel.dsts[0]));
  }
}

}  // namespace

void define_fill(KernelTable& table) { table.add("fill", prepare); }

}  // namespace plimsoll::backends::cpu
