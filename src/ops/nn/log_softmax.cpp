// log_softmax: x minus the logarithm of the sum of exp(x) along an axis; and its gradient.
#include <algorithm>
#include <cmath>

#include "ops/nn/softmax_rules.h"

namespace plimsoll::ops {
namespace {

void forward(std::span<const std::vector<double>> srcs, std::vector<double>& y) {
  const std::vector<double>& x = srcs[0];
  const double most = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double one : x) sum += std::exp(one - most);
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] - most - std::log(sum);
}

void backward(std::span<const std::vector<double>> srcs, std::vector<double>& d_x) {
  const std::vector<double>&y = srcs[0], &d_y = srcs[1];
  double sum = 0;
  for (const double one : d_y) sum += one;
  for (size_t i = 0; i < y.size(); ++i) d_x[i] = d_y[i] - std::exp(y[i]) * sum;
}

}  // namespace

void define_log_softmax(OpTable& table) {
  define_softmax_variant(table, {.name = "log_softmax",
                                 .doc = "y = x - max - log sum of exp(x - max) along the axis",
                                 .grad_doc = "d_x = d_y - exp(y) · sum of d_y along the axis",
                                 .forward = forward,
                                 .backward = backward,
                                 .low_y = -8,
                                 .high_y = -4});
}

}  // namespace plimsoll::ops
