#pragma once

#include <cstdint>

namespace plimsoll::backends::cpu {

/// dst[m,n] = op(a) · op(b), or added to dst, by oneDNN on the calling thread alone; row-major.
///
/// Only onednn.cpp and onednn_rate.cpp see the library; what this one uses is the same in 2.6 and 3.x.
/// Requires: m, n, k >= 1 and min(m, n) <= kMostShortSide. Memory: the library takes up to 17 KB for the time of the
/// call; with both sides longer it would pack whole operands (megabytes). Order: the first call in a thread sets
/// OpenMP's number of threads to 1 for that thread, for good: code of the caller's that uses OpenMP there is serial
/// from then on.
struct Sgemm {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  const float* a = nullptr;
  int64_t stride_a = 0;
  const float* b = nullptr;
  int64_t stride_b = 0;
  float* dst = nullptr;
  int64_t stride_dst = 0;
  bool adds = false;
};
void sgemm(const Sgemm& call);

/// oneDNN 2.6 packs where 1/m + 1/n < 0.0038 (AVX2; AVX-512 from 510 on): never with a side of 256.
constexpr int64_t kMostShortSide = 256;

/// Has oneDNN compile what `sgemm` calls with these transposes run, which it else does in the first of them.
void compile_sgemm(bool transpose_a, bool transpose_b);

}  // namespace plimsoll::backends::cpu
