#include "backends/cpu/blocked_product.h"

#include <algorithm>

#include "core/check.h"
#include "ops/nn/matmul.h"

namespace plimsoll::backends::cpu {
namespace {

/// Rows of a unit at the most: several blocks of packed rows, so that one product has few units of equal size.
constexpr int64_t kUnitRows = 3 * kProductRows;
/// Columns of a unit at the least: packing a costs 4 % of the work with 128.
constexpr int64_t kLeastUnitColumns = 128;
/// Units that each thread should find, so that one that is held up leaves little to wait for.
constexpr int64_t kUnitsPerThread = 6;
/// With few rows reading b is all the work, and its rows are best read in long pieces.
constexpr int64_t kLeastReadColumns = 512;
constexpr int64_t kReadUnitsPerThread = 2;
/// Multiply-adds that take as long as moving one f32 (cut_by_cost's unit).
constexpr int64_t kMultiplyAddsPerElement = 16;

Cut cut_rows(int64_t m) {
  const int64_t parts = std::max<int64_t>(1, (m + kUnitRows - 1) / kUnitRows);
  return {m, std::max<int64_t>(1, (m + parts - 1) / parts)};
}

/// All columns for a single thread; else so many units that all threads have work up to the end.
Cut cut_columns(const BlockedProduct::Sizes& sizes, int64_t other_units, int threads) {
  const bool reads_only = sizes.m <= kFewRows;
  const int64_t wanted = threads == 1 ? 1 : threads * (reads_only ? kReadUnitsPerThread : kUnitsPerThread);
  const int64_t parts = std::max<int64_t>(1, wanted / std::max<int64_t>(1, other_units));
  const int64_t least = reads_only && !sizes.transpose_b ? kLeastReadColumns : kLeastUnitColumns;
  const int64_t share = std::max(least, (sizes.n + parts - 1) / parts);
  return {sizes.n, whole_lines(share)};
}

int64_t unit_cost(int64_t rows, int64_t columns, int64_t k) { return rows * columns * k / kMultiplyAddsPerElement; }

}  // namespace

BlockedProduct::BlockedProduct(const Sizes& sizes, std::vector<int64_t> offsets_a, std::vector<int64_t> offsets_b,
                               int threads)
    : sizes_(sizes),
      offsets_a_(std::move(offsets_a)),
      offsets_b_(std::move(offsets_b)),
      threads_(threads),
      rows_(cut_rows(sizes.m)),
      columns_(cut_columns(sizes, std::ssize(offsets_a_) * rows_.tasks(), threads)),
      units_(
          cut_by_cost(std::ssize(offsets_a_) * columns_.tasks() * rows_.tasks(),
                      unit_cost(std::min(rows_.per_task(), sizes.m), std::min(columns_.per_task(), sizes.n), sizes.k))),
      room_numel_(whole_lines(product_room_numel(std::min(rows_.per_task(), sizes.m), sizes.k))) {
  PLIMSOLL_CHECK(room_numel_ <= ops::matmul_panel_numel(sizes.k), room_numel_, " at depth ", sizes.k);
}

int64_t BlockedProduct::workspace_bytes() const { return rooms_bytes(units_, room_numel_, threads_); }

void BlockedProduct::run(ThreadPool& pool, const Operands& operands) const {
  run_in_rooms(pool, units_, room_numel_, operands.workspace, [&](Range range, float* room) {
    for (int64_t unit = range.begin; unit < range.end; ++unit) compute(unit, operands, room);
  });
}

void BlockedProduct::compute(int64_t unit, const Operands& operands, float* room) const {
  const Range rows = rows_[unit % rows_.tasks()];
  unit /= rows_.tasks();
  const Range columns = columns_[unit % columns_.tasks()];
  const int64_t batch = unit / columns_.tasks();
  const float* a = operands.a + offsets_a_[static_cast<size_t>(batch)];
  const float* b = operands.b + offsets_b_[static_cast<size_t>(batch)];
  const int64_t first_row = batch * sizes_.m + rows.begin;
  const auto report = [&](Range own_rows, Range own_columns) {
    (*operands.finished)({first_row + own_rows.begin, first_row + own_rows.end},
                         {columns.begin + own_columns.begin, columns.begin + own_columns.end});
  };
  const FinishedBlock finished(report);
  const bool makes_sums = operands.column_sums != nullptr && rows.begin == 0;
  multiply(
      {.m = rows.size(),
       .n = columns.size(),
       .k = sizes_.k,
       .a = sizes_.transpose_a ? Matrix{a + rows.begin, sizes_.m, true} : Matrix{a + rows.begin * sizes_.k, sizes_.k},
       .b = sizes_.transpose_b ? Matrix{b + columns.begin * sizes_.k, sizes_.k, true}
                               : Matrix{b + columns.begin, sizes_.n},
       .bias = operands.bias == nullptr ? nullptr : operands.bias + columns.begin,
       .dst = operands.dst + first_row * sizes_.n + columns.begin,
       .stride = sizes_.n,
       .accumulate = operands.accumulates,
       .room = room,
       .finished = operands.finished == nullptr ? nullptr : &finished,
       .column_sums = makes_sums ? operands.column_sums + columns.begin : nullptr,
       .adds_to_sums = operands.adds_to_sums});
}

}  // namespace plimsoll::backends::cpu
