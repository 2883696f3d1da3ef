#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "backends/cpu/dropout_draw.h"
#include "backends/cpu/elementwise_rules.h"
#include "backends/cpu/kernel_table.h"
#include "ops/chain.h"

namespace plimsoll::backends::cpu {

/// Where the operands of a chain stand among those of its kernel.
struct ChainPlace {
  size_t first_src = 0;   ///< the kernel's source that the chain calls s0
  size_t first_kept = 0;  ///< the kernel's destination that takes what is kept first
};

/// A chain with everything decided: applied to a value piece by piece, by the row functions of the ops themselves, so
/// that its bits are theirs.
class ChainRows {
 public:
  /// Elements of a piece at the most: with two operands 8 KiB of the first-level cache.
  static constexpr int64_t kPiece = 1024;

  /// Requires: `chain` accepts a value of `value` and the kernel's sources behind `place`.
  ChainRows(const ops::Chain& chain, const program::Kernel& kernel, const TensorDesc& value, ChainPlace place);

  /// Elements of the value, about, that one takes as much time as (kElementwiseCost is one step's).
  int64_t cost() const { return cost_; }

  /// A run of elements of the value.
  struct Run {
    const float* x;  ///< the elements before the chain
    float* dst;      ///< the elements after it; may be x, or the same elements of a source that no later step reads
    int64_t first;   ///< index of the first one in the whole value
    int64_t count;
  };
  /// Applies the chain to the run, on the calling thread, and writes what is kept.
  void apply(const LaunchArgs& args, const Run& run) const;

 private:
  struct Keep {};
  struct Binary {
    BinaryOp op;
    bool is_left;  ///< the running value is the op's first operand
  };
  struct Gradient {
    GradientOp op;
    bool is_saved;  ///< the running value is what the forward pass left, not d_y
  };
  struct Step {
    std::variant<Keep, UnaryRule, Binary, Gradient, Dropout> rule;
    size_t operand = 0;  ///< the kernel's source, or for Keep its destination
    int64_t period = 1;  ///< elements of that source: it repeats
  };

  void apply_piece(const LaunchArgs& args, const Run& piece) const;
  static void apply_step(const Step& step, const LaunchArgs& args, const Run& run);
  static void apply_pairs(const Step& step, const LaunchArgs& args, const Run& run);

  std::vector<Step> steps_;
  size_t last_ = 0;  ///< one past the last step that computes
  int64_t cost_ = 1;
};

/// Refuses (unsupported) a kernel with an operand that is not plain f32, or whole numbers that a chain's dropout reads.
Status check_chain_operands(const program::Kernel& kernel, const ops::Chain& chain, size_t first_src);

}  // namespace plimsoll::backends::cpu
