// Loops over f32 arrays that Highway kernels share; included once per instruction set, after hwy/highway.h, so the
// guard is Highway's toggle and not `#pragma once`.
#if defined(PLIMSOLL_BACKENDS_CPU_SIMD_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_BACKENDS_CPU_SIMD_H
#undef PLIMSOLL_BACKENDS_CPU_SIMD_H
#else
#define PLIMSOLL_BACKENDS_CPU_SIMD_H
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using VF = hn::Vec<F32>;

/// The first `count` (< lanes) elements at `p`, the other lanes `fill`.
inline VF load_first(F32 d, const float* p, size_t count, float fill = 0) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(hn::Set(d, fill), d, lanes);
  std::memcpy(lanes, p, count * sizeof(float));
  return hn::Load(d, lanes);
}

/// Writes the first `count` (< lanes) lanes.
inline void store_first(F32 d, VF v, float* p, size_t count) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, d, lanes);
  std::memcpy(p, lanes, count * sizeof(float));
}

/// Calls f(i, load, store) for every vector of [begin, end): load(p) and store(v, p) touch the lanes of array p that
/// begin at i and exist.
template <class F>
void for_vectors(int64_t begin, int64_t end, const F& f) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F32()));
  int64_t i = begin;
  for (; i + lanes <= end; i += lanes)
    f(
        i, [i](const float* p) { return hn::LoadU(F32(), p + i); },
        [i](VF v, float* p) { hn::StoreU(v, F32(), p + i); });
  if (i == end) return;
  const auto rest = static_cast<size_t>(end - i);
  f(
      i, [=](const float* p) { return load_first(F32(), p + i, rest); },
      [=](VF v, float* p) { store_first(F32(), v, p + i, rest); });
}

/// dst[i] = f(d, src[i]) for i in [0, n). dst may be src.
template <class F>
void map(const F& f, const float* src, float* dst, int64_t n) {
  const F32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const VF x0 = hn::LoadU(d, src + i);
    const VF x1 = hn::LoadU(d, src + i + lanes);
    hn::StoreU(f(d, x0), d, dst + i);
    hn::StoreU(f(d, x1), d, dst + i + lanes);
  }
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, hn::LoadU(d, src + i)), d, dst + i);
  if (i < n) {
    const auto rest = static_cast<size_t>(n - i);
    store_first(d, f(d, load_first(d, src + i, rest)), dst + i, rest);
  }
}

/// How one source of a row runs: along with the destination, or the same element throughout.
enum class Run : uint8_t { kAlong, kSame };

template <Run run>
VF load_at(F32 d, const float* p, int64_t i) {
  if constexpr (run == Run::kAlong)
    return hn::LoadU(d, p + i);
  else
    return hn::Set(d, *p);
}

template <Run run>
VF load_first_at(F32 d, const float* p, int64_t i, size_t count) {
  if constexpr (run == Run::kAlong)
    return load_first(d, p + i, count);
  else
    return hn::Set(d, *p);
}

/// dst[i] = f(d, a[i], b[i]) for i in [0, n). dst may be a or b where that one runs along.
template <Run run_a, Run run_b, class F>
void map(const F& f, const float* a, const float* b, float* dst, int64_t n) {
  const F32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, load_at<run_a>(d, a, i), load_at<run_b>(d, b, i)), d, dst + i);
  if (i < n) {
    const auto rest = static_cast<size_t>(n - i);
    store_first(d, f(d, load_first_at<run_a>(d, a, i, rest), load_first_at<run_b>(d, b, i, rest)), dst + i, rest);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#endif
