// compare: a relation of two sources that broadcast.
#include <functional>

#include "backends/cpu/broadcast_loop.h"
#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

template <class T, class Relation>
std::unique_ptr<Kernel> make_compare(const program::Kernel& kernel, ThreadPool& pool, Relation holds) {
  const BroadcastLoop loop(kernel.srcs, kernel.dsts[0].shape);
  const Cut cut = cut_by_cost(kernel.dsts[0].numel(), kElementwiseCost, kLineElements);
  return make_kernel([loop, cut, holds, &pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) {
      loop.for_rows(range.begin, range.end, [&](const auto& offsets, int64_t begin, int64_t count) {
        const auto* a = src<T>(args, 0) + offsets[0];
        const auto* b = src<T>(args, 1) + offsets[1];
        const int64_t step_a = loop.stays(0) ? 0 : 1, step_b = loop.stays(1) ? 0 : 1;
        auto* to = dst<uint8_t>(args, 0) + begin;
        for (int64_t i = 0; i < count; ++i) to[i] = holds(a[i * step_a], b[i * step_b]) ? 1 : 0;
      });
    });
  });
}

template <class T>
std::unique_ptr<Kernel> make_compare(const program::Kernel& kernel, ThreadPool& pool) {
  const std::string& direction = kernel.attributes.get_string("direction");
  if (direction == "eq") return make_compare<T>(kernel, pool, std::equal_to<T>());
  if (direction == "ne") return make_compare<T>(kernel, pool, std::not_equal_to<T>());
  if (direction == "lt") return make_compare<T>(kernel, pool, std::less<T>());
  if (direction == "le") return make_compare<T>(kernel, pool, std::less_equal<T>());
  if (direction == "gt") return make_compare<T>(kernel, pool, std::greater<T>());
  return make_compare<T>(kernel, pool, std::greater_equal<T>());
}

Result<std::unique_ptr<Kernel>> prepare_compare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  switch (kernel.srcs[0].dtype) {
    case DType::kF32: return make_compare<float>(kernel, context.pool);
    case DType::kI32: return make_compare<int32_t>(kernel, context.pool);
    case DType::kI64: return make_compare<int64_t>(kernel, context.pool);
    case DType::kBool: return make_compare<uint8_t>(kernel, context.pool);
    default:
      return unsupported("[compare] the cpu kernel takes f32, i32, i64 and bool, not " + to_string(kernel.srcs[0]));
  }
}

}  // namespace

void define_compare(KernelTable& table) { table.add("compare", prepare_compare); }

}  // namespace plimsoll::backends::cpu
