// Packing of a product's operands into panels; included once per instruction set, like simd.h.
#if defined(PLIMSOLL_BACKENDS_CPU_PRODUCT_PACK_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_BACKENDS_CPU_PRODUCT_PACK_H
#undef PLIMSOLL_BACKENDS_CPU_PRODUCT_PACK_H
#else
#define PLIMSOLL_BACKENDS_CPU_PRODUCT_PACK_H
#endif

#include "backends/cpu/product.h"
#include "backends/cpu/product_tile.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {

/// dst[p · dst_stride + j] = src[j · src_stride + p] for four rows j and p in [0, n).
inline void transpose_four_rows(const float* src, int64_t src_stride, int64_t n, float* dst, int64_t dst_stride) {
  int64_t p = 0;
#if HWY_TARGET != HWY_SCALAR  // which has no vectors of four
  const hn::FixedTag<float, 4> d;
  for (; p + 4 <= n; p += 4) {
    const auto row0 = hn::LoadU(d, src + p), row1 = hn::LoadU(d, src + src_stride + p);
    const auto row2 = hn::LoadU(d, src + 2 * src_stride + p), row3 = hn::LoadU(d, src + 3 * src_stride + p);
    const auto low02 = hn::InterleaveLower(d, row0, row2), low13 = hn::InterleaveLower(d, row1, row3);
    const auto high02 = hn::InterleaveUpper(d, row0, row2), high13 = hn::InterleaveUpper(d, row1, row3);
    hn::StoreU(hn::InterleaveLower(d, low02, low13), d, dst + p * dst_stride);
    hn::StoreU(hn::InterleaveUpper(d, low02, low13), d, dst + (p + 1) * dst_stride);
    hn::StoreU(hn::InterleaveLower(d, high02, high13), d, dst + (p + 2) * dst_stride);
    hn::StoreU(hn::InterleaveUpper(d, high02, high13), d, dst + (p + 3) * dst_stride);
  }
#endif
  for (; p < n; ++p)
    for (int64_t j = 0; j < 4; ++j) dst[p * dst_stride + j] = src[j * src_stride + p];
}

/// The same for any number of rows; the last four overlap those before them.
inline void transpose_rows(const float* src, int64_t src_stride, int64_t rows, int64_t n, float* dst,
                           int64_t dst_stride) {
  for (int64_t j = 0; rows >= 4 && j < rows; j += 4) {
    const int64_t first = std::min(j, rows - 4);
    transpose_four_rows(src + first * src_stride, src_stride, n, dst + first, dst_stride);
  }
  for (int64_t j = 0; rows < 4 && j < rows; ++j)
    for (int64_t p = 0; p < n; ++p) dst[p * dst_stride + j] = src[j * src_stride + p];
}

/// dst[p · width + j] = src[p · src_stride + j] for p in [0, n) and j in [0, count): whole rows of `width` at best.
template <int64_t width>
void copy_rows(const float* src, int64_t src_stride, int64_t n, int64_t count, float* dst) {
  if (count == width) {
    for (int64_t p = 0; p < n; ++p) std::memcpy(dst + p * width, src + p * src_stride, width * sizeof(float));
    return;
  }
  for (int64_t p = 0; p < n; ++p)
    std::memcpy(dst + p * width, src + p * src_stride, static_cast<size_t>(count) * sizeof(float));
}

/// The matrix from (row, column) on.
inline Matrix matrix_from(const Matrix& m, int64_t row, int64_t column) {
  return {m.data + (m.is_transposed ? column * m.stride + row : row * m.stride + column), m.stride, m.is_transposed};
}

/// Rows of a as panels [depth, kTileRows], one tile of rows behind the other. The last rows of an incomplete tile are
/// left as they are: they are never read.
inline void pack_rows(const Matrix& a, Range rows, Range depth, float* dst) {
  for (int64_t row = rows.begin; row < rows.end; row += kTileRows, dst += kTileRows * depth.size()) {
    const Matrix from = matrix_from(a, row, depth.begin);
    const int64_t count = std::min(kTileRows, rows.end - row);
    if (a.is_transposed)
      copy_rows<kTileRows>(from.data, from.stride, depth.size(), count, dst);
    else
      transpose_rows(from.data, from.stride, count, depth.size(), dst, kTileRows);
  }
}

/// Columns of b as [depth, kTileColumns]; columns that it does not have are 0, so that no lane meets a NaN of before.
inline void pack_strip(const Matrix& b, Range depth, Range columns, float* dst) {
  const Matrix from = matrix_from(b, depth.begin, columns.begin);
  if (columns.size() < kTileColumns) std::fill_n(dst, depth.size() * kTileColumns, 0.0f);
  if (b.is_transposed)
    transpose_rows(from.data, from.stride, columns.size(), depth.size(), dst, kTileColumns);
  else
    copy_rows<kTileColumns>(from.data, from.stride, depth.size(), columns.size(), dst);
}

/// sums[j] = the sum of column j of a packed strip, or added to it, for its first `columns` columns.
inline void sum_strip(const float* strip, int64_t depth, int64_t columns, bool adds, float* sums) {
  const F32 d;
  VF left = hn::Zero(d), right = left, next_left = left, next_right = left;  // two sums each, as one waits for itself
  int64_t i = 0;
  for (; i + 2 <= depth; i += 2, strip += 2 * kTileColumns) {
    left = hn::Add(left, hn::Load(d, strip));
    right = hn::Add(right, hn::Load(d, strip + kVectorLanes));
    next_left = hn::Add(next_left, hn::Load(d, strip + kTileColumns));
    next_right = hn::Add(next_right, hn::Load(d, strip + kTileColumns + kVectorLanes));
  }
  if (i < depth) {
    left = hn::Add(left, hn::Load(d, strip));
    right = hn::Add(right, hn::Load(d, strip + kVectorLanes));
  }
  HWY_ALIGN float made[kTileColumns];
  hn::Store(hn::Add(left, next_left), d, made);
  hn::Store(hn::Add(right, next_right), d, made + kVectorLanes);
  for (int64_t j = 0; j < columns; ++j) sums[j] = (adds ? sums[j] : 0.0f) + made[j];
}

/// A strip of b that is fetched towards the caches, cache line by cache line, while the one before it is in use.
/// Packing would otherwise wait for memory: 5 % of a product of 256 rows whose b is not in a cache (measured on Zen 3).
class StripAhead {
 public:
  StripAhead() = default;
  /// To be fetched in `parts` parts.
  StripAhead(const Matrix& b, Range depth, Range columns, int64_t parts)
      : row_(matrix_from(b, depth.begin, columns.begin).data), stride_(b.stride) {
    rows_ = b.is_transposed ? columns.size() : depth.size();
    // Rows begin anywhere in a line; most strides are whole lines, so the first row speaks for all.
    const auto before = static_cast<int64_t>(reinterpret_cast<uintptr_t>(row_) % kLineBytes / sizeof(float));
    lines_a_row_ = whole_lines(before + (b.is_transposed ? depth.size() : columns.size())) / kLineElements;
    lines_a_part_ = (rows_ * lines_a_row_ + parts - 1) / parts;
  }

  void fetch_part() {
    for (int64_t i = 0; i < lines_a_part_ && rows_ > 0; ++i) {
      __builtin_prefetch(row_ + line_ * kLineElements, 0, 2);
      if (++line_ < lines_a_row_) continue;
      line_ = 0;
      row_ += stride_;
      --rows_;
    }
  }

 private:
  static constexpr uintptr_t kLineBytes = kLineElements * sizeof(float);

  const float* row_ = nullptr;  ///< the next to be fetched
  int64_t stride_ = 0;
  int64_t rows_ = 0;  ///< left
  int64_t lines_a_row_ = 0;
  int64_t lines_a_part_ = 0;
  int64_t line_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#endif
