#pragma once

#include <span>
#include <string_view>

#include "ops/op_def.h"

namespace plimsoll::ops {

/// What cross_entropy and linear_cross_entropy share.
struct CrossEntropyOptions {
  int64_t ignore_index = -100;
  double label_smoothing = 0;
};

/// The attributes that both have.
std::vector<AttributeDef> cross_entropy_attributes();
CrossEntropyOptions cross_entropy_options(const Attributes& attributes);
/// Refuses a label_smoothing outside [0, 1].
Status check_cross_entropy_options(std::string_view op, const Attributes& attributes);

/// Whether a row counts. A target that is no class never does, so that nothing is read or written out of bounds.
inline bool is_valid_target(int64_t target, int64_t classes, int64_t ignore_index) {
  return target != ignore_index && target >= 0 && target < classes;
}

/// log Σ exp(logits), shifted by the largest.
double log_sum_exp(std::span<const double> logits);
/// lse - (1 - s) logits[target] - s · mean(logits), with s = label_smoothing (Szegedy et al., CVPR 2016, section 7).
double row_loss(std::span<const double> logits, double lse, int64_t target, double label_smoothing);
/// d_logits = factor · (softmax(logits) - (1 - s) one_hot(target) - s / classes). `d_logits` may be `logits`.
void row_gradient(std::span<const double> logits, double lse, int64_t target, double label_smoothing, double factor,
                  std::span<double> d_logits);

/// Targets for samples: classes in turn, some rows ignored, one that is no class.
std::vector<double> sample_targets(int64_t rows, int64_t classes, int64_t ignore_index);

}  // namespace plimsoll::ops
