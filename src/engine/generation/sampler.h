#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/result.h"

namespace plimsoll::engine {

/// How the next token is drawn from its logits, named as in Hugging Face's generation settings.
struct SamplingOptions {
  double temperature = 1.0;  ///< 0: the most probable token
  int64_t top_k = 0;         ///< only the k most probable; 0: all
  double top_p = 1.0;        ///< only the most probable that together have this probability
  uint64_t seed = 0;
};

/// Errors: invalid_argument, naming the setting, what it is and what is allowed.
Status check_sampling(const SamplingOptions& options);

/// Draws tokens; the draw at a position is a function of (seed, position, logits) alone.
///
/// Memory: one index and one weight a class, allocated in the constructor. Cost: O(classes · log classes).
/// Source: Holtzman et al., The curious case of neural text degeneration, 2020 (top-p).
class Sampler {
 public:
  Sampler(SamplingOptions options, int64_t classes);

  int64_t classes() const { return static_cast<int64_t>(order_.size()); }

  /// Requires: logits has as many elements as there are classes.
  int32_t draw(std::span<const float> logits, int64_t position);

 private:
  SamplingOptions options_;
  std::vector<int32_t> order_;
  std::vector<double> weights_;
};

}  // namespace plimsoll::engine
