// where: one of two sources, element by element; all broadcast.
#include "backends/cpu/broadcast_loop.h"
#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

template <class T>
std::unique_ptr<Kernel> make_where(const program::Kernel& kernel, ThreadPool& pool) {
  const BroadcastLoop loop(kernel.srcs, kernel.dsts[0].shape);
  const Cut cut = cut_by_cost(kernel.dsts[0].numel(), kElementwiseCost, kLineElements);
  return make_kernel([loop, cut, &pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) {
      loop.for_rows(range.begin, range.end, [&](const auto& offsets, int64_t begin, int64_t count) {
        const auto* condition = src<uint8_t>(args, 0) + offsets[0];
        const auto* a = src<T>(args, 1) + offsets[1];
        const auto* b = src<T>(args, 2) + offsets[2];
        const int64_t step_c = loop.stays(0) ? 0 : 1, step_a = loop.stays(1) ? 0 : 1, step_b = loop.stays(2) ? 0 : 1;
        auto* to = dst<T>(args, 0) + begin;
        for (int64_t i = 0; i < count; ++i) to[i] = condition[i * step_c] != 0 ? a[i * step_a] : b[i * step_b];
      });
    });
  });
}

/// Elements are moved whole, so their size is all that matters.
Result<std::unique_ptr<Kernel>> prepare_where(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  switch (size_bytes(kernel.dsts[0].dtype)) {
    case 1: return make_where<uint8_t>(kernel, context.pool);
    case 2: return make_where<uint16_t>(kernel, context.pool);
    case 4: return make_where<uint32_t>(kernel, context.pool);
    default: return make_where<uint64_t>(kernel, context.pool);
  }
}

}  // namespace

void define_where(KernelTable& table) { table.add("where", prepare_where); }

}  // namespace plimsoll::backends::cpu
