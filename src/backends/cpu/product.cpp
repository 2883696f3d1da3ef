#include "backends/cpu/product.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/onednn.h"

namespace plimsoll::backends::cpu {
namespace {

void zero_rows(const Product& p) {
  for (int64_t i = 0; i < p.m; ++i) std::memset(p.dst + i * p.stride, 0, static_cast<size_t>(p.n) * sizeof(float));
}

}  // namespace

void multiply(const Product& product) {
  if (product.m == 0 || product.n == 0) return;
  if (product.k == 0) {
    if (!product.accumulate) zero_rows(product);
    return;
  }
  const int64_t step = product.m <= kMostShortSide ? product.n : kMostShortSide;
  for (int64_t j = 0; j < product.n; j += step)
    sgemm({.m = product.m,
           .n = std::min(step, product.n - j),
           .k = product.k,
           .transpose_a = product.a.is_transposed,
           .transpose_b = product.b.is_transposed,
           .a = product.a.data,
           .stride_a = product.a.stride,
           .b = product.b.data + (product.b.is_transposed ? j * product.b.stride : j),
           .stride_b = product.b.stride,
           .dst = product.dst + j,
           .stride_dst = product.stride,
           .adds = product.accumulate});
}

}  // namespace plimsoll::backends::cpu
