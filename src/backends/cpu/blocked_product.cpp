#include "backends/cpu/blocked_product.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/onednn.h"
#include "core/check.h"
#include "ops/nn/matmul.h"

namespace plimsoll::backends::cpu {
namespace {

/// Columns of a panel of b, and its depth: 96 · 768 f32 stay in a second-level cache of 512 KiB. Measured on Zen 3 over
/// gpt2-124m's products: 85 to 88 of 92 GFLOP/s with 96 to 256 columns and a depth of 256 to 768.
constexpr int64_t kPanelColumns = 96;
constexpr int64_t kPanelDepth = 768;
/// The same beside a copy of a, which pays by being used for more columns.
constexpr int64_t kWidePanelColumns = 192;
constexpr int64_t kWidePanelDepth = 256;
/// Rows of a panel are one cache line further apart, so that they fall into different cache sets.
constexpr int64_t kPad = 16;
/// Rows that one call multiplies by a panel.
constexpr int64_t kCallRows = 192;
/// Rows of a unit at the most: copying the panel is then 3 % of the work.
constexpr int64_t kUnitRows = 768;
/// With fewer rows copying b costs more than its stride.
constexpr int64_t kLeastRowsForCopy = 48;
/// Columns of a unit where b is read in place.
constexpr int64_t kInPlaceColumns = 256;
/// Multiply-adds that take as long as moving one f32 (cut_by_cost's unit).
constexpr int64_t kMultiplyAddsPerElement = 16;

int64_t cost(const BlockedProduct::Sizes& sizes, const Cut& columns, const Cut& rows) {
  return std::min(columns.per_task(), sizes.n) * std::min(rows.per_task(), sizes.m) * sizes.k / kMultiplyAddsPerElement;
}

/// An equal share of `extent` for each of the parts of at most `most`, in multiples of `multiple`.
Cut even_cut(int64_t extent, int64_t most, int64_t multiple) {
  const int64_t parts = std::max<int64_t>(1, (extent + most - 1) / most);
  const int64_t share = std::max<int64_t>(1, (extent + parts - 1) / parts);
  return {extent, (share + multiple - 1) / multiple * multiple};
}

void copy_into(const float* src, int64_t src_stride, float* dst, int64_t dst_stride, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(dst + i * dst_stride, src + i * src_stride, static_cast<size_t>(columns) * sizeof(float));
}

}  // namespace

BlockedProduct::BlockedProduct(const Sizes& sizes, std::vector<int64_t> offsets_a, std::vector<int64_t> offsets_b)
    : sizes_(sizes),
      offsets_a_(std::move(offsets_a)),
      offsets_b_(std::move(offsets_b)),
      copies_b_(sizes.m >= kLeastRowsForCopy),
      copies_a_(copies_b_ && sizes.transpose_a),
      depth_(copies_a_ ? kWidePanelDepth : kPanelDepth),
      columns_(sizes.n, copies_a_   ? kWidePanelColumns
                        : copies_b_ ? kPanelColumns
                                    : kInPlaceColumns),
      rows_(even_cut(sizes.m, kUnitRows, 1)),
      units_(cut_by_cost(static_cast<int64_t>(offsets_a_.size()) * columns_.tasks() * rows_.tasks(),
                         cost(sizes_, columns_, rows_))) {
  PLIMSOLL_CHECK(worker_numel() <= ops::matmul_panel_numel(sizes.k), worker_numel(), " at depth ", sizes.k);
  if (sizes.k > 0) compile_sgemm(sizes.transpose_a, sizes.transpose_b);
}

int64_t BlockedProduct::panel_numel() const {
  const int64_t depth = std::min(sizes_.k, depth_);
  // Rows of the panel are b's: of columns, or of depth where b is transposed.
  return sizes_.transpose_b ? columns_.per_task() * (depth + kPad) : depth * (columns_.per_task() + kPad);
}

int64_t BlockedProduct::worker_numel() const {
  if (!copies_b_ || units_.tasks() == 0) return 0;
  return panel_numel() + (copies_a_ ? std::min(sizes_.k, depth_) * (kCallRows + kPad) : 0);
}

int64_t BlockedProduct::workspace_bytes(int workers) const { return rooms_bytes(units_, worker_numel(), workers); }

BlockedProduct::Unit BlockedProduct::unit(int64_t index) const {
  const Range rows = rows_[index % rows_.tasks()];
  index /= rows_.tasks();
  const Range columns = columns_[index % columns_.tasks()];
  return {.batch = index / columns_.tasks(),
          .column = columns.begin,
          .columns = columns.size(),
          .row = rows.begin,
          .rows = rows.size()};
}

void BlockedProduct::run(ThreadPool& pool, const Operands& operands) const {
  run_in_rooms(pool, units_, worker_numel(), operands.workspace, [&](Range range, float* own) {
    for (int64_t index = range.begin; index < range.end; ++index) compute(unit(index), operands, own);
  });
}

void BlockedProduct::compute(const Unit& u, const Operands& operands, float* own) const {
  const bool starts = operands.bias != nullptr || (sizes_.k == 0 && !operands.accumulates);
  if (starts) start(u, operands);
  const Cut depths(sizes_.k, depth_);
  for (int64_t block = 0; block < depths.tasks(); ++block) {
    const bool adds = block > 0 || starts || operands.accumulates;
    if (copies_b_)
      multiply_copied(u, operands, depths[block], own, adds);
    else
      multiply_in_place(u, operands, depths[block], adds);
  }
}

void BlockedProduct::start(const Unit& u, const Operands& operands) const {
  float* dst = operands.dst + (u.batch * sizes_.m + u.row) * sizes_.n + u.column;
  for (int64_t i = 0; i < u.rows; ++i, dst += sizes_.n)
    for (int64_t j = 0; j < u.columns; ++j)
      dst[j] = (operands.bias != nullptr ? operands.bias[u.column + j] : 0) + (operands.accumulates ? dst[j] : 0);
}

const float* BlockedProduct::a_at(const Unit& u, const Operands& operands, int64_t row, int64_t depth) const {
  const float* a = operands.a + offsets_a_[static_cast<size_t>(u.batch)];
  return a + (sizes_.transpose_a ? depth * sizes_.m + row : row * sizes_.k + depth);
}

const float* BlockedProduct::b_at(const Unit& u, const Operands& operands, int64_t depth) const {
  const float* b = operands.b + offsets_b_[static_cast<size_t>(u.batch)];
  return b + (sizes_.transpose_b ? u.column * sizes_.k + depth : depth * sizes_.n + u.column);
}

void BlockedProduct::multiply_copied(const Unit& u, const Operands& operands, Range depth, float* panel,
                                     bool adds) const {
  // Either copy keeps its operand's order: a row of the panel is a row of b.
  const int64_t stride = (sizes_.transpose_b ? std::min(sizes_.k, depth_) : columns_.per_task()) + kPad;
  const float* b = b_at(u, operands, depth.begin);
  if (sizes_.transpose_b)
    copy_into(b, sizes_.k, panel, stride, u.columns, depth.size());
  else
    copy_into(b, sizes_.n, panel, stride, depth.size(), u.columns);
  float* copied_a = panel + panel_numel();
  for (int64_t row = u.row; row < u.row + u.rows; row += kCallRows) {
    const int64_t rows = std::min(kCallRows, u.row + u.rows - row);
    const float* a = a_at(u, operands, row, depth.begin);
    if (copies_a_) copy_into(a, sizes_.m, copied_a, kCallRows + kPad, depth.size(), rows);
    sgemm({.m = rows,
           .n = u.columns,
           .k = depth.size(),
           .transpose_a = sizes_.transpose_a,
           .transpose_b = sizes_.transpose_b,
           .a = copies_a_ ? copied_a : a,
           .stride_a = copies_a_ ? kCallRows + kPad : sizes_.k,
           .b = panel,
           .stride_b = stride,
           .dst = operands.dst + (u.batch * sizes_.m + row) * sizes_.n + u.column,
           .stride_dst = sizes_.n,
           .adds = adds});
  }
}

void BlockedProduct::multiply_in_place(const Unit& u, const Operands& operands, Range depth, bool adds) const {
  sgemm({.m = u.rows,
         .n = u.columns,
         .k = depth.size(),
         .transpose_a = sizes_.transpose_a,
         .transpose_b = sizes_.transpose_b,
         .a = a_at(u, operands, u.row, depth.begin),
         .stride_a = sizes_.transpose_a ? sizes_.m : sizes_.k,
         .b = b_at(u, operands, depth.begin),
         .stride_b = sizes_.transpose_b ? sizes_.k : sizes_.n,
         .dst = operands.dst + (u.batch * sizes_.m + u.row) * sizes_.n + u.column,
         .stride_dst = sizes_.n,
         .adds = adds});
}

}  // namespace plimsoll::backends::cpu
