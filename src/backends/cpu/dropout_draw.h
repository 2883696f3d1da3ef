#pragma once

#include <string_view>

#include "backends/cpu/kernel_table.h"
#include "core/hash.h"
#include "ops/elementwise/dropout_mask.h"

namespace plimsoll::backends::cpu {

/// How one launch drops: what ops::DropoutMask is made from, and where the launch's elements stand in the batch.
struct DropoutDraw {
  uint64_t key = 0;
  uint64_t step = 0;
  uint64_t first = 0;       ///< index of element 0 of the launch in the whole global batch
  uint32_t drop_below = 0;  ///< as ops::drop_below gives it
  float keep_factor = 1;    ///< 1 / (1 - p)
};

/// Room beside a row of factors for what is drawn before the first and after the last.
inline constexpr int64_t kFactorSlack = 80;

/// What is known of a kernel's dropout before the step scalars are.
class Dropout {
 public:
  /// `numel`: elements of one microbatch.
  Dropout(double p, std::string_view path, int64_t numel)
      : path_hash_(stable_hash(path)),
        numel_(static_cast<uint64_t>(numel)),
        drop_below_(ops::drop_below(p)),
        keep_factor_(static_cast<float>(1 / (1 - p))) {}

  /// Reads the step scalars seed, step and microbatch, sources `first_scalar` and the two after it.
  DropoutDraw draw(const LaunchArgs& args, size_t first_scalar) const {
    const auto scalar = [&](size_t i) { return static_cast<uint64_t>(*src<int64_t>(args, first_scalar + i)); };
    return {.key = scalar(0) ^ path_hash_,
            .step = scalar(1),
            .first = scalar(2) * numel_,
            .drop_below = drop_below_,
            .keep_factor = keep_factor_};
  }

 private:
  uint64_t path_hash_;
  uint64_t numel_;
  uint32_t drop_below_;
  float keep_factor_;
};

}  // namespace plimsoll::backends::cpu
