// Products of few rows, which read b once and are limited by that; included once per instruction set, like simd.h.
#if defined(PLIMSOLL_BACKENDS_CPU_PRODUCT_ROWS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_BACKENDS_CPU_PRODUCT_ROWS_H
#undef PLIMSOLL_BACKENDS_CPU_PRODUCT_ROWS_H
#else
#define PLIMSOLL_BACKENDS_CPU_PRODUCT_ROWS_H
#endif

#include <array>
#include <utility>

#include "backends/cpu/product.h"
#include "backends/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {

/// Rows of b that are read side by side: so many streams keep memory busy, and dst is read and written once for all.
constexpr size_t kStreams = 8;

/// dst[j] += Σ over the rows i of a[i] · b[i · stride + j] for j in [0, n).
template <size_t... i>
void add_scaled_rows(std::index_sequence<i...>, const float* a, const float* b, int64_t stride, float* dst, int64_t n) {
  const F32 d;
  const VF each[] = {hn::Set(d, a[i])...};
  for_vectors(0, n, [&](int64_t, auto load, auto store) HWY_ATTR {
    VF sum = load(dst);
    ((sum = hn::MulAdd(each[i], load(b + static_cast<int64_t>(i) * stride), sum)), ...);
    store(sum, dst);
  });
}

/// dst = bias, or what is there, or 0, plus a row times a plain b.
inline void multiply_few_rows_plain(const Product& p) {
  for (int64_t row = 0; row < p.m; ++row) {
    float* dst = p.dst + row * p.stride;
    for (int64_t j = 0; j < p.n; ++j) dst[j] = (p.accumulate ? dst[j] : 0.0f) + (p.bias != nullptr ? p.bias[j] : 0.0f);
  }
  int64_t i = 0;
  const auto add_rows = [&](auto streams) HWY_ATTR {
    for (int64_t row = 0; row < p.m; ++row)
      add_scaled_rows(streams, p.a.data + row * p.a.stride + i, p.b.data + i * p.b.stride, p.b.stride,
                      p.dst + row * p.stride, p.n);
  };
  for (; i + static_cast<int64_t>(kStreams) <= p.k; i += kStreams) add_rows(std::make_index_sequence<kStreams>());
  for (; i < p.k; ++i) add_rows(std::index_sequence<0>());
}

/// The inner products of a with each of the rows of b.
template <size_t... i>
void dot_rows(std::index_sequence<i...>, const float* a, const float* b, int64_t stride, int64_t n, float* sums) {
  const F32 d;
  VF sum[] = {((void)i, hn::Zero(d))...};
  for_vectors(0, n, [&](int64_t, auto load, auto) HWY_ATTR {
    const VF x = load(a);
    ((sum[i] = hn::MulAdd(x, load(b + static_cast<int64_t>(i) * stride), sum[i])), ...);
  });
  ((sums[i] = hn::GetLane(hn::SumOfLanes(d, sum[i]))), ...);
}

inline void multiply_few_rows_transposed(const Product& p) {
  int64_t j = 0;
  const auto set_columns = [&](auto streams) HWY_ATTR {
    constexpr size_t kColumns = decltype(streams)::size();
    for (int64_t row = 0; row < p.m; ++row) {
      std::array<float, kColumns> sums;
      dot_rows(streams, p.a.data + row * p.a.stride, p.b.data + j * p.b.stride, p.b.stride, p.k, sums.data());
      float* dst = p.dst + row * p.stride + j;
      for (size_t i = 0; i < kColumns; ++i)
        dst[i] =
            sums[i] + (p.accumulate ? dst[i] : 0.0f) + (p.bias != nullptr ? p.bias[j + static_cast<int64_t>(i)] : 0.0f);
    }
  };
  for (; j + static_cast<int64_t>(kStreams) <= p.n; j += kStreams) set_columns(std::make_index_sequence<kStreams>());
  for (; j < p.n; ++j) set_columns(std::index_sequence<0>());
}

/// Requires: a is not transposed.
inline void multiply_few_rows(const Product& p) {
  if (p.b.is_transposed)
    multiply_few_rows_transposed(p);
  else
    multiply_few_rows_plain(p);
}

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#endif
