#include "ops/loss/cross_entropy_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace plimsoll::ops {

std::vector<AttributeDef> cross_entropy_attributes() {
  return {{.name = "ignore_index", .default_value = int64_t{-100}, .doc = "rows with this target count nothing"},
          {.name = "label_smoothing", .default_value = 0.0, .doc = "share of the target spread over all classes"}};
}

CrossEntropyOptions cross_entropy_options(const Attributes& attributes) {
  return {.ignore_index = attributes.get_int("ignore_index"),
          .label_smoothing = attributes.get_float("label_smoothing")};
}

Status check_cross_entropy_options(std::string_view op, const Attributes& attributes) {
  const double smoothing = attributes.get_float("label_smoothing");
  if (smoothing >= 0 && smoothing <= 1) return {};
  return invalid_argument("[" + std::string(op) + "] label_smoothing is " + to_string(Attribute(smoothing)) +
                          "; expected 0..1");
}

double log_sum_exp(std::span<const double> logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - most);
  return most + std::log(sum);
}

double row_loss(std::span<const double> logits, double lse, int64_t target, double label_smoothing) {
  double mean = 0;
  for (const double logit : logits) mean += logit / static_cast<double>(logits.size());
  return lse - (1 - label_smoothing) * logits[static_cast<size_t>(target)] - label_smoothing * mean;
}

void row_gradient(std::span<const double> logits, double lse, int64_t target, double label_smoothing, double factor,
                  std::span<double> d_logits) {
  for (size_t i = 0; i < logits.size(); ++i) {
    const double wanted = label_smoothing / static_cast<double>(logits.size()) +
                          (static_cast<int64_t>(i) == target ? 1 - label_smoothing : 0);
    d_logits[i] = factor * (std::exp(logits[i] - lse) - wanted);
  }
}

std::vector<double> sample_targets(int64_t rows, int64_t classes, int64_t ignore_index) {
  std::vector<double> out;
  for (int64_t row = 0; row < rows; ++row) out.push_back(static_cast<double>(row * 5 % classes));
  for (size_t row = 2; row < out.size(); row += 3) out[row] = static_cast<double>(ignore_index);
  if (rows > 4) out[4] = static_cast<double>(classes);
  if (rows > 6) out[6] = -7;
  return out;
}

}  // namespace plimsoll::ops
