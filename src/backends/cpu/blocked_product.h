#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/cut.h"

namespace plimsoll::backends::cpu {

/// dst[batch,m,n] = op(a) · op(b) + bias on the pool: cut over batch, columns and rows by shape alone, never over k.
///
/// A task copies a panel of b, [k block, columns], into its workspace and multiplies rows by it. Copied, the panel's
/// rows lie close together: a row stride that is a multiple of 4 KiB halves the rate otherwise (measured on Zen 3, n =
/// 3072: 44 against 86 of 92 GFLOP/s). So is a where it is transposed. Products of few rows read both in place instead.
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
  /// Compiles what the library needs.
  BlockedProduct(const Sizes& sizes, std::vector<int64_t> offsets_a, std::vector<int64_t> offsets_b);

  /// A panel for every worker of the pool, or for every task where there are fewer.
  int64_t workspace_bytes(int workers) const;

  struct Operands {
    const float* a = nullptr;
    const float* b = nullptr;
    const float* bias = nullptr;  ///< n elements, or none
    float* dst = nullptr;
    bool accumulates = false;
    void* workspace = nullptr;
  };
  void run(ThreadPool& pool, const Operands& operands) const;

 private:
  /// A unit of work: rows [row, row + rows) of a column panel of one batch.
  struct Unit {
    int64_t batch, column, columns, row, rows;
  };
  Unit unit(int64_t index) const;
  int64_t panel_numel() const;
  int64_t worker_numel() const;
  const float* a_at(const Unit& unit, const Operands& operands, int64_t row, int64_t depth) const;
  const float* b_at(const Unit& unit, const Operands& operands, int64_t depth) const;
  void compute(const Unit& unit, const Operands& operands, float* own) const;
  void start(const Unit& unit, const Operands& operands) const;
  void multiply_copied(const Unit& unit, const Operands& operands, Range depth, float* panel, bool adds) const;
  void multiply_in_place(const Unit& unit, const Operands& operands, Range depth, bool adds) const;

  Sizes sizes_;
  std::vector<int64_t> offsets_a_;
  std::vector<int64_t> offsets_b_;
  bool copies_b_;
  bool copies_a_;
  int64_t depth_;
  Cut columns_;
  Cut rows_;
  Cut units_;
};

}  // namespace plimsoll::backends::cpu
