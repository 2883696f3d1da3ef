#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/product.h"

namespace plimsoll::backends::cpu {

/// dst[batch,m,n] = op(a) · op(b) + bias on the pool: cut over batch, columns and rows, never over k.
///
/// The cut depends on the pool's threads, so that few of them get long units (a is packed once for each) and many get
/// enough of them; the bits do not, as a product's bits do not depend on its cut.
class BlockedProduct {
 public:
  struct Sizes {
    int64_t m = 0;
    int64_t n = 0;
    int64_t k = 0;
    bool transpose_a = false;
    bool transpose_b = false;
  };
  /// `offsets_a[i]` and `offsets_b[i]`: elements to where batch i's operands begin; dst's batches follow each other.
  BlockedProduct(const Sizes& sizes, std::vector<int64_t> offsets_a, std::vector<int64_t> offsets_b, int threads);

  /// Packed panels for every thread, or for every task where there are fewer.
  int64_t workspace_bytes() const;

  struct Operands {
    const float* a = nullptr;
    const float* b = nullptr;
    const float* bias = nullptr;  ///< n elements, or none
    float* dst = nullptr;
    bool accumulates = false;
    void* workspace = nullptr;
    /// Called for each block of dst that has its values, from any thread; rows count on over the batches. Or none.
    const FinishedBlock* finished = nullptr;
    float* column_sums = nullptr;  ///< or none: the sums of b's columns. Requires: one batch, transpose_a, m > 0, k > 0
    bool adds_to_sums = false;
  };
  void run(ThreadPool& pool, const Operands& operands) const;

 private:
  void compute(int64_t unit, const Operands& operands, float* room) const;

  Sizes sizes_;
  std::vector<int64_t> offsets_a_;
  std::vector<int64_t> offsets_b_;
  int threads_;
  Cut rows_;
  Cut columns_;
  Cut units_;
  int64_t room_numel_;
};

}  // namespace plimsoll::backends::cpu
