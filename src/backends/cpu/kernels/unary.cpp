// Elementwise ops of one f32 source.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/unary.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own headers after foreach_target.h.
#include "backends/cpu/gelu.h"
#include "backends/cpu/simd_math.h"

#ifndef PLIMSOLL_BACKENDS_CPU_UNARY_OP
#define PLIMSOLL_BACKENDS_CPU_UNARY_OP
namespace plimsoll::backends::cpu {
enum class UnaryOp : uint8_t {
  kAbs,
  kClip,
  kCos,
  kErf,
  kExp,
  kGelu,
  kGeluTanh,
  kLog,
  kNeg,
  kReciprocal,
  kRelu,
  kRsqrt,
  kSigmoid,
  kSign,
  kSin,
  kSqrt,
  kTanh
};

/// An op, and the bounds of clip.
struct UnaryRule {
  UnaryOp op;
  float low = 0;
  float high = 0;
};
}  // namespace plimsoll::backends::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

VF sign(F32 d, VF x) {
  const VF size = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Zero(d), hn::Set(d, 1.0f));
  return keep_nan(x, hn::CopySign(size, x));
}

/// Comparisons in this form keep a NaN.
VF relu(F32 d, VF x) { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x); }
VF clip(VF x, VF low, VF high) {
  const VF raised = hn::IfThenElse(hn::Lt(x, low), low, x);
  return hn::IfThenElse(hn::Gt(raised, high), high, raised);
}

void map_unary(const UnaryRule& rule, const float* src, float* dst, int64_t n) {
  const auto each = [&](const auto& f) { map(f, src, dst, n); };
  const VF low = hn::Set(F32(), rule.low);
  const VF high = hn::Set(F32(), rule.high);
  switch (rule.op) {
    case UnaryOp::kAbs: return each([](F32, VF x) HWY_ATTR { return hn::Abs(x); });
    case UnaryOp::kClip: return each([&](F32, VF x) HWY_ATTR { return clip(x, low, high); });
    case UnaryOp::kCos: return each([](F32 d, VF x) HWY_ATTR { return cos(d, x); });
    case UnaryOp::kErf: return each([](F32 d, VF x) HWY_ATTR { return erf(d, x); });
    case UnaryOp::kExp: return each([](F32 d, VF x) HWY_ATTR { return exp(d, x); });
    case UnaryOp::kGelu: return each([](F32 d, VF x) HWY_ATTR { return gelu(d, x, false); });
    case UnaryOp::kGeluTanh: return each([](F32 d, VF x) HWY_ATTR { return gelu(d, x, true); });
    case UnaryOp::kLog: return each([](F32 d, VF x) HWY_ATTR { return log(d, x); });
    case UnaryOp::kNeg: return each([](F32, VF x) HWY_ATTR { return hn::Neg(x); });
    case UnaryOp::kReciprocal: return each([](F32 d, VF x) HWY_ATTR { return hn::Div(hn::Set(d, 1.0f), x); });
    case UnaryOp::kRelu: return each([](F32 d, VF x) HWY_ATTR { return relu(d, x); });
    case UnaryOp::kRsqrt: return each([](F32 d, VF x) HWY_ATTR { return hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x)); });
    case UnaryOp::kSigmoid: return each([](F32 d, VF x) HWY_ATTR { return sigmoid(d, x); });
    case UnaryOp::kSign: return each([](F32 d, VF x) HWY_ATTR { return sign(d, x); });
    case UnaryOp::kSin: return each([](F32 d, VF x) HWY_ATTR { return sin(d, x); });
    case UnaryOp::kSqrt: return each([](F32, VF x) HWY_ATTR { return hn::Sqrt(x); });
    case UnaryOp::kTanh: return each([](F32 d, VF x) HWY_ATTR { return tanh(d, x); });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(map_unary);

std::unique_ptr<Kernel> make_unary(const UnaryRule& rule, int64_t numel, ThreadPool& pool) {
  const Cut cut = cut_by_cost(numel, kElementwiseCost, kLineElements);
  return make_kernel([rule, cut, &pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) {
      HWY_DYNAMIC_DISPATCH(map_unary)
      (rule, src<float>(args, 0) + range.begin, dst<float>(args, 0) + range.begin, range.size());
    });
  });
}

Prepare prepare_unary(UnaryOp op) {
  return [op](const program::Kernel& kernel, const CpuContext& context) -> Result<std::unique_ptr<Kernel>> {
    PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
    return make_unary({.op = op}, kernel.dsts[0].numel(), context.pool);
  };
}

Result<std::unique_ptr<Kernel>> prepare_gelu(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  const bool is_tanh = kernel.attributes.get_string("approximate") == "tanh";
  return make_unary({.op = is_tanh ? UnaryOp::kGeluTanh : UnaryOp::kGelu}, kernel.dsts[0].numel(), context.pool);
}

Result<std::unique_ptr<Kernel>> prepare_clip(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  return make_unary({.op = UnaryOp::kClip,
                     .low = static_cast<float>(kernel.attributes.get_float("min")),
                     .high = static_cast<float>(kernel.attributes.get_float("max"))},
                    kernel.dsts[0].numel(), context.pool);
}

}  // namespace

void define_unary(KernelTable& table) {
  const std::pair<const char*, UnaryOp> rows[] = {{"abs", UnaryOp::kAbs},
                                                  {"cos", UnaryOp::kCos},
                                                  {"erf", UnaryOp::kErf},
                                                  {"exp", UnaryOp::kExp},
                                                  {"log", UnaryOp::kLog},
                                                  {"neg", UnaryOp::kNeg},
                                                  {"reciprocal", UnaryOp::kReciprocal},
                                                  {"relu", UnaryOp::kRelu},
                                                  {"rsqrt", UnaryOp::kRsqrt},
                                                  {"sigmoid", UnaryOp::kSigmoid},
                                                  {"sign", UnaryOp::kSign},
                                                  {"sin", UnaryOp::kSin},
                                                  {"sqrt", UnaryOp::kSqrt},
                                                  {"tanh", UnaryOp::kTanh}};
  for (const auto& [name, op] : rows) table.add(name, prepare_unary(op));
  table.add("gelu", prepare_gelu);
  table.add("clip", prepare_clip);
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
