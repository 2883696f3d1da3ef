// softmax: exp(x) / sum of exp(x) along an axis; and its gradient.
#include <algorithm>
#include <cmath>

#include "ops/nn/softmax_rules.h"

namespace plimsoll::ops {
namespace {

void forward(std::span<const std::vector<double>> srcs, std::vector<double>& y) {
  const std::vector<double>& x = srcs[0];
  const double most = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += y[i] = std::exp(x[i] - most);
  for (double& one : y) one /= sum;
}

void backward(std::span<const std::vector<double>> srcs, std::vector<double>& d_x) {
  const std::vector<double>&y = srcs[0], &d_y = srcs[1];
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += y[i] * d_y[i];
  for (size_t i = 0; i < y.size(); ++i) d_x[i] = y[i] * (d_y[i] - sum);
}

}  // namespace

void define_softmax(OpTable& table) {
  define_softmax_variant(table, {.name = "softmax",
                                 .doc = "y = exp(x - max) / sum of exp(x - max) along the axis",
                                 .grad_doc = "d_x = y (d_y - sum of y d_y along the axis)",
                                 .forward = forward,
                                 .backward = backward,
                                 .low_y = 0,
                                 .high_y = 0.25});
}

}  // namespace plimsoll::ops
