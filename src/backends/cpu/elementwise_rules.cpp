#include "backends/cpu/elementwise_rules.h"

#include <algorithm>
#include <array>
#include <span>

namespace plimsoll::backends::cpu {
namespace {

template <class Op>
struct Row {
  std::string_view name;
  Op op;
};

constexpr std::array kUnary{Row<UnaryOp>{"abs", UnaryOp::kAbs},
                            Row<UnaryOp>{"clip", UnaryOp::kClip},
                            Row<UnaryOp>{"cos", UnaryOp::kCos},
                            Row<UnaryOp>{"erf", UnaryOp::kErf},
                            Row<UnaryOp>{"exp", UnaryOp::kExp},
                            Row<UnaryOp>{"gelu", UnaryOp::kGelu},
                            Row<UnaryOp>{"log", UnaryOp::kLog},
                            Row<UnaryOp>{"neg", UnaryOp::kNeg},
                            Row<UnaryOp>{"reciprocal", UnaryOp::kReciprocal},
                            Row<UnaryOp>{"relu", UnaryOp::kRelu},
                            Row<UnaryOp>{"rsqrt", UnaryOp::kRsqrt},
                            Row<UnaryOp>{"sigmoid", UnaryOp::kSigmoid},
                            Row<UnaryOp>{"sign", UnaryOp::kSign},
                            Row<UnaryOp>{"sin", UnaryOp::kSin},
                            Row<UnaryOp>{"sqrt", UnaryOp::kSqrt},
                            Row<UnaryOp>{"tanh", UnaryOp::kTanh}};

constexpr std::array kBinary{
    Row<BinaryOp>{"add", BinaryOp::kAdd},           Row<BinaryOp>{"divide", BinaryOp::kDivide},
    Row<BinaryOp>{"maximum", BinaryOp::kMaximum},   Row<BinaryOp>{"minimum", BinaryOp::kMinimum},
    Row<BinaryOp>{"multiply", BinaryOp::kMultiply}, Row<BinaryOp>{"pow", BinaryOp::kPow},
    Row<BinaryOp>{"subtract", BinaryOp::kSubtract}};

constexpr std::array kGradient{
    Row<GradientOp>{"gelu_grad", GradientOp::kGelu}, Row<GradientOp>{"relu_grad", GradientOp::kRelu},
    Row<GradientOp>{"sigmoid_grad", GradientOp::kSigmoid}, Row<GradientOp>{"tanh_grad", GradientOp::kTanh}};

template <class Op, size_t n>
std::optional<Op> find(const std::array<Row<Op>, n>& rows, std::string_view name) {
  const auto it = std::ranges::find(rows, name, &Row<Op>::name);
  return it == rows.end() ? std::nullopt : std::optional(it->op);
}

template <class Op, size_t n>
std::vector<std::string_view> names_of(const std::array<Row<Op>, n>& rows) {
  std::vector<std::string_view> out;
  for (const Row<Op>& row : rows) out.push_back(row.name);
  return out;
}

bool is_tanh(const Attributes& attributes) { return attributes.get_string("approximate") == "tanh"; }

}  // namespace

std::optional<UnaryRule> find_unary(std::string_view op, const Attributes& attributes) {
  const std::optional<UnaryOp> found = find(kUnary, op);
  if (!found) return std::nullopt;
  UnaryRule rule{.op = *found};
  if (rule.op == UnaryOp::kGelu && is_tanh(attributes)) rule.op = UnaryOp::kGeluTanh;
  if (rule.op == UnaryOp::kClip) {
    rule.low = static_cast<float>(attributes.get_float("min"));
    rule.high = static_cast<float>(attributes.get_float("max"));
  }
  return rule;
}

std::optional<BinaryOp> find_binary(std::string_view op) { return find(kBinary, op); }

std::optional<GradientOp> find_gradient(std::string_view op, const Attributes& attributes) {
  const std::optional<GradientOp> found = find(kGradient, op);
  return found == GradientOp::kGelu && is_tanh(attributes) ? GradientOp::kGeluTanh : found;
}

std::vector<std::string_view> unary_names() { return names_of(kUnary); }
std::vector<std::string_view> binary_names() { return names_of(kBinary); }
std::vector<std::string_view> gradient_names() { return names_of(kGradient); }

}  // namespace plimsoll::backends::cpu
