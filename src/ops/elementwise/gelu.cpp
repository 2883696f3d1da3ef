// gelu: the Gaussian error linear unit, exact or by its tanh approximation; and its gradient.
#include <cmath>
#include <numbers>

#include "ops/elementwise/unary.h"

namespace plimsoll::ops {
namespace {

constexpr double kSqrtHalf = 0.5 * std::numbers::sqrt2;
/// √(2/π) and the weight of the cube in Hendrycks and Gimpel, "Gaussian error linear units", 2016, section 2.
constexpr double kTanhScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double kCube = 0.044715;
constexpr int64_t kFlops = 8;
constexpr int64_t kGradientFlops = 14;

bool is_tanh(const Attributes& attributes) { return attributes.get_string("approximate") == "tanh"; }

/// The normal distribution function at x, or what stands for it in the approximation.
double gate(double x, bool tanh) {
  return tanh ? 0.5 * (1 + std::tanh(kTanhScale * (x + kCube * x * x * x))) : 0.5 * (1 + std::erf(x * kSqrtHalf));
}

double gate_slope(double x, bool tanh) {
  if (!tanh) return std::exp(-0.5 * x * x) * kSqrtHalf * std::numbers::inv_sqrtpi;
  const double y = std::tanh(kTanhScale * (x + kCube * x * x * x));
  return 0.5 * (1 - y * y) * kTanhScale * (1 + 3 * kCube * x * x);
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  for (int64_t i = 0; i < dsts[0].numel(); ++i) dsts[0][i] = srcs[0][i] * gate(srcs[0][i], is_tanh(attributes));
}

void evaluate_gradient(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const bool tanh = is_tanh(attributes);
  for (int64_t i = 0; i < dsts[0].numel(); ++i) {
    const double x = srcs[0][i];
    dsts[0][i] = srcs[1][i] * (gate(x, tanh) + x * gate_slope(x, tanh));
  }
}

void gradient(GradientContext& c) {
  c.set_d_src(0, c.add("gelu_grad", {c.src(0), c.d_dst(0)}, {{"approximate", *c.attributes().find("approximate")}}));
}

/// Adds the attribute, and every sample with either value of it.
OpDef with_approximate(OpDef def) {
  def.attributes = {{.name = "approximate",
                     .default_value = std::string("none"),
                     .allowed = {"none", "tanh"},
                     .doc = "none: by erf; tanh: the approximation that GPT-2 was trained with"}};
  def.samples = [plain = def.samples] {
    std::vector<Sample> out;
    for (const char* approximate : {"none", "tanh"})
      for (Sample& sample : plain()) {
        sample.attributes = {{"approximate", std::string(approximate)}};
        out.push_back(std::move(sample));
      }
    return out;
  };
  return def;
}

}  // namespace

void define_gelu(OpTable& table) {
  OpDef gelu = with_approximate(make_unary({.name = "gelu",
                                            .doc = "dst = src · Φ(src), Φ the normal distribution function",
                                            .gradient = gradient,
                                            .flops_per_element = kFlops,
                                            .low = -4,
                                            .high = 4}));
  gelu.evaluate = evaluate;
  table.add(std::move(gelu));
  OpDef gelu_grad = with_approximate(make_unary_gradient({.name = "gelu_grad",
                                                          .doc = "d_x = d_y · (Φ(x) + x · Φ'(x))",
                                                          .saved = "x",
                                                          .flops_per_element = kGradientFlops,
                                                          .low = -4,
                                                          .high = 4}));
  gelu_grad.evaluate = evaluate_gradient;
  table.add(std::move(gelu_grad));
}

}  // namespace plimsoll::ops
