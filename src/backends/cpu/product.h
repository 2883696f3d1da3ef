#pragma once

#include <cstdint>

namespace plimsoll::backends::cpu {

/// A matrix in memory: element (i, j) is data[i · stride + j], or data[j · stride + i] where it is transposed.
struct Matrix {
  const float* data = nullptr;
  int64_t stride = 0;
  bool is_transposed = false;
};

/// dst[m,n] = a[m,k] · b[k,n], or added to dst; one task's product, on the calling thread alone.
///
/// Shapes: row i of dst begins at dst + i · stride. An empty sum is 0.
/// Memory: oneDNN takes 17 KB for the time of the call; wide products are cut so that it never packs a whole operand,
/// which would take megabytes.
/// Order: the same bits for the same sizes and strides.
struct Product {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  Matrix a;
  Matrix b;
  float* dst = nullptr;
  int64_t stride = 0;
  bool accumulate = false;
};
void multiply(const Product& product);

}  // namespace plimsoll::backends::cpu
