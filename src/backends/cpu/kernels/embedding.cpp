// embedding: rows of a table by id, and the gradient of the table.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/embedding.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include "backends/cpu/cut.h"
#include "backends/cpu/row_math.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Adds columns [columns) of d_y's rows into the rows of the table that `ids` name, in the order of ids.
void add_columns(const int32_t* ids, int64_t count, const float* d_y, float* table, int64_t table_rows, Range columns,
                 int64_t width) {
  for (int64_t i = 0; i < count; ++i) {
    if (ids[i] < 0 || ids[i] >= table_rows) continue;
    float* row = table + ids[i] * width + columns.begin;
    map<Run::kAlong, Run::kAlong>([](F32, VF a, VF b) { return hn::Add(a, b); }, row, d_y + i * width + columns.begin,
                                  row, columns.size());
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(add_columns);

/// Columns of one task: whole cache lines, long enough that the hardware prefetches.
constexpr int64_t kTaskColumns = 64;
/// Elements that one task sets to zero.
constexpr int64_t kZeroElements = 1 << 18;

Result<std::unique_ptr<Kernel>> prepare_embedding(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {1}));
  const int64_t table_rows = kernel.srcs[0].shape[0];
  const int64_t width = kernel.srcs[0].shape[1];
  const Cut cut = cut_by_cost(kernel.srcs[1].numel(), 2 * width);
  return make_kernel([=, &pool = context.pool](const LaunchArgs& args) {
    const auto* ids = src<int32_t>(args, 1);
    const auto row_bytes = static_cast<size_t>(width) * sizeof(float);
    run(pool, cut, [&](Range range, int64_t) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        float* row = dst<float>(args, 0) + i * width;
        if (ids[i] >= 0 && ids[i] < table_rows)
          std::memcpy(row, src<float>(args, 0) + ids[i] * width, row_bytes);
        else
          std::memset(row, 0, row_bytes);
      }
    });
  });
}

/// Cut by columns: a row of the table is then added to by one task, in the order of ids, whatever the ids are. Where it
/// accumulates it touches the named rows alone.
Result<std::unique_ptr<Kernel>> prepare_embedding_grad(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {0}));
  const int64_t table_rows = kernel.dsts[0].shape[0];
  const int64_t width = kernel.dsts[0].shape[1];
  const int64_t count = kernel.srcs[0].numel();
  const Cut zeros(accumulates(kernel, 0) ? 0 : kernel.dsts[0].numel(), kZeroElements);
  const Cut cut(width, kTaskColumns);
  return make_kernel([=, &pool = context.pool](const LaunchArgs& args) {
    float* table = dst<float>(args, 0);
    run(pool, zeros, [&](Range range, int64_t) {
      std::memset(table + range.begin, 0, static_cast<size_t>(range.size()) * sizeof(float));
    });
    run(pool, cut, [&](Range range, int64_t) {
      HWY_DYNAMIC_DISPATCH(add_columns)
      (src<int32_t>(args, 0), count, src<float>(args, 1), table, table_rows, range, width);
    });
  });
}

}  // namespace

void define_embedding(KernelTable& table) {
  table.add("embedding", prepare_embedding);
  table.add("embedding_grad", prepare_embedding_grad);
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
