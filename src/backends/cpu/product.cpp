// One task's matrix product: packed panels and register tiles, in Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/product.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include "backends/cpu/product_pack.h"
#include "backends/cpu/product_rows.h"
#include "backends/cpu/product_tile.h"

#ifndef PLIMSOLL_BACKENDS_CPU_PRODUCT_FINISH
#define PLIMSOLL_BACKENDS_CPU_PRODUCT_FINISH
namespace plimsoll::backends::cpu {

/// Columns after which a finished block is reported: long enough rows for vectors, few enough for the cache.
constexpr int64_t kFinishedColumns = 128;

/// An equal share of `extent` for each of the parts of at most `most`, in multiples of `multiple`.
inline Cut even_cut(int64_t extent, int64_t most, int64_t multiple) {
  const int64_t parts = std::max<int64_t>(1, (extent + most - 1) / most);
  const int64_t share = std::max<int64_t>(1, (extent + parts - 1) / parts);
  return {extent, std::min(most, (share + multiple - 1) / multiple * multiple)};
}

}  // namespace plimsoll::backends::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Columns from `column` on, in a block of depth.
struct Strip {
  Range depth;
  int64_t column;
};

/// One strip of columns of dst for a block of rows: dst (+)= packed rows · packed strip.
void multiply_strip(const Product& p, Range rows, const Strip& strip, const float* packed_a, const float* packed_b,
                    StripAhead ahead) {
  const int64_t depth = strip.depth.size();
  const bool is_first = strip.depth.begin == 0;
  const int64_t columns = std::min(kTileColumns, p.n - strip.column);
  const Tile tile{.depth = depth,
                  .b = packed_b,
                  .bias = is_first && p.bias != nullptr ? p.bias + strip.column : nullptr,
                  .stride = p.stride,
                  .adds = !is_first || p.accumulate};
  for (int64_t row = 0; row < rows.size(); row += kTileRows) {
    ahead.fetch_part();
    const int64_t count = std::min(kTileRows, rows.size() - row);
    float* dst = p.dst + (rows.begin + row) * p.stride + strip.column;
    if (columns == kTileColumns)
      multiply_tile(count, tile, packed_a + row * depth, dst);
    else
      multiply_narrow_tile(count, columns, tile, packed_a + row * depth, dst);
  }
}

void multiply_rows(const Product& p, Range rows) {
  const Cut depths = even_cut(p.k, kProductDepth, 4);
  const int64_t tiles = (rows.size() + kTileRows - 1) / kTileRows;
  float* packed_b = p.room;  // first, as it is read in whole vectors from aligned addresses
  float* packed_a = p.room + kTileColumns * std::min(depths.per_task(), p.k);
  for (int64_t block = 0; block < depths.tasks(); ++block) {
    const Range depth = depths[block];
    pack_rows(p.a, rows, depth, packed_a);
    const bool is_last = block + 1 == depths.tasks();
    int64_t reported = 0;
    for (int64_t column = 0; column < p.n; column += kTileColumns) {
      pack_strip(p.b, depth, {column, std::min(p.n, column + kTileColumns)}, packed_b);
      if (p.column_sums != nullptr && rows.begin == 0)
        sum_strip(packed_b, depth.size(), std::min(kTileColumns, p.n - column), block > 0 || p.adds_to_sums,
                  p.column_sums + column);
      const int64_t next = column + kTileColumns;
      const StripAhead ahead = next < p.n ? StripAhead(p.b, depth, {next, std::min(p.n, next + kTileColumns)}, tiles)
                               : is_last  ? StripAhead()
                                          : StripAhead(p.b, depths[block + 1], {0, std::min(p.n, kTileColumns)}, tiles);
      multiply_strip(p, rows, {depth, column}, packed_a, packed_b, ahead);
      if (!is_last || p.finished == nullptr || (next < p.n && next - reported < kFinishedColumns)) continue;
      (*p.finished)(rows, {reported, std::min(p.n, next)});
      reported = next;
    }
  }
}

void multiply_packed(const Product& p) {
  const Cut rows = even_cut(p.m, kProductRows, kTileRows);
  for (int64_t block = 0; block < rows.tasks(); ++block) multiply_rows(p, rows[block]);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/check.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(multiply_packed);
HWY_EXPORT(multiply_few_rows);

/// An empty sum: the bias, or 0, or what is there.
void start_rows(const Product& p) {
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      float& dst = p.dst[i * p.stride + j];
      dst = (p.accumulate ? dst : 0.0f) + (p.bias != nullptr ? p.bias[j] : 0.0f);
    }
}

}  // namespace

void multiply(const Product& product) {
  PLIMSOLL_CHECK(product.m >= 0 && product.n >= 0 && product.k >= 0, product.m, " ", product.n, " ", product.k);
  if (product.m == 0 || product.n == 0) return;
  PLIMSOLL_CHECK(product.column_sums == nullptr || (product.a.is_transposed && product.k > 0), product.k);
  const bool is_packed = product.k > 0 && (product.m > kFewRows || product.a.is_transposed);
  if (is_packed) return HWY_DYNAMIC_DISPATCH(multiply_packed)(product);
  if (product.k == 0)
    start_rows(product);
  else
    HWY_DYNAMIC_DISPATCH(multiply_few_rows)(product);
  if (product.finished != nullptr) (*product.finished)({0, product.m}, {0, product.n});
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
