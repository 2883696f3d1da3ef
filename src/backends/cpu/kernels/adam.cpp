// adam and adamw: one pass over parameter, gradient and moments.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/adam.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include <cmath>

#include "backends/cpu/cut.h"
#include "backends/cpu/simd.h"

#ifndef PLIMSOLL_BACKENDS_CPU_ADAM
#define PLIMSOLL_BACKENDS_CPU_ADAM
namespace plimsoll::backends::cpu {
/// Factors of one step, made in f64 and rounded once.
struct AdamStep {
  float grad_scale;
  float l2;    ///< added to the gradient, times the parameter
  float keep;  ///< 1 - lr · decoupled decay
  float one_less_beta1;
  float beta2;
  float one_less_beta2;
  float step_size;     ///< lr / (1 - beta1^step)
  float inverse_root;  ///< 1 / sqrt(1 - beta2^step)
  float eps;
};
struct AdamArrays {
  const float* param;
  const float* grad;
  const float* m;
  const float* v;
  const float* v_max;  ///< nullptr: no AMSGrad
  float* new_param;
  float* new_m;
  float* new_v;
  float* new_v_max;
};
}  // namespace plimsoll::backends::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

/// The arithmetic is in PyTorch's order, without fused products, so that parameters follow its to the last bits but for
/// one quotient, taken as a product: two quotients and a root a vector take as long as moving it does.
template <bool has_v_max, class Load, class Store>
void adam_vector(const AdamStep& step, const AdamArrays& a, const Load& load, const Store& store) {
  const F32 d;
  VF param = load(a.param);
  const VF g = hn::Add(hn::Mul(load(a.grad), hn::Set(d, step.grad_scale)), hn::Mul(param, hn::Set(d, step.l2)));
  param = hn::Mul(param, hn::Set(d, step.keep));
  VF m = load(a.m);
  m = hn::Add(m, hn::Mul(hn::Sub(g, m), hn::Set(d, step.one_less_beta1)));
  store(m, a.new_m);
  VF v = hn::Add(hn::Mul(load(a.v), hn::Set(d, step.beta2)), hn::Mul(hn::Mul(g, g), hn::Set(d, step.one_less_beta2)));
  store(v, a.new_v);
  if constexpr (has_v_max) {
    const VF v_max = load(a.v_max);
    v = hn::IfThenElse(hn::Or(hn::IsNaN(v_max), hn::Gt(v_max, v)), v_max, v);
    store(v, a.new_v_max);
  }
  const VF root = hn::Add(hn::Mul(hn::Sqrt(v), hn::Set(d, step.inverse_root)), hn::Set(d, step.eps));
  store(hn::Sub(param, hn::Div(hn::Mul(m, hn::Set(d, step.step_size)), root)), a.new_param);
}

template <bool has_v_max>
void adam_range(const AdamStep& step, const AdamArrays& a, Range range) {
  for_vectors(range.begin, range.end,
              [&](int64_t, const auto& load, const auto& store) { adam_vector<has_v_max>(step, a, load, store); });
}

void adam_task(const AdamStep& step, const AdamArrays& a, Range range) {
  if (a.v_max != nullptr)
    adam_range<true>(step, a, range);
  else
    adam_range<false>(step, a, range);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(adam_task);

struct AdamSettings {
  double beta1;
  double beta2;
  double eps;
  double weight_decay;
  bool is_decoupled;
};

AdamStep make_step(const AdamSettings& s, double lr, double step, float grad_scale) {
  return {.grad_scale = grad_scale,
          .l2 = static_cast<float>(s.is_decoupled ? 0 : s.weight_decay),
          .keep = static_cast<float>(s.is_decoupled ? 1 - lr * s.weight_decay : 1),
          .one_less_beta1 = static_cast<float>(1 - s.beta1),
          .beta2 = static_cast<float>(s.beta2),
          .one_less_beta2 = static_cast<float>(1 - s.beta2),
          .step_size = static_cast<float>(lr / (1 - std::pow(s.beta1, step))),
          .inverse_root = static_cast<float>(1 / std::sqrt(1 - std::pow(s.beta2, step))),
          .eps = static_cast<float>(s.eps)};
}

Prepare prepare_adam(bool is_decoupled) {
  return [is_decoupled](const program::Kernel& kernel, const CpuContext& context) -> Result<std::unique_ptr<Kernel>> {
    PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {5}));
    const Attributes& attributes = kernel.attributes;
    const AdamSettings settings{.beta1 = attributes.get_float("beta1"),
                                .beta2 = attributes.get_float("beta2"),
                                .eps = attributes.get_float("eps"),
                                .weight_decay = attributes.get_float("weight_decay"),
                                .is_decoupled = is_decoupled};
    const bool has_v_max = kernel.srcs.size() > 7;
    const Cut cut(kernel.dsts[0].numel(), kUpdateElements);
    return make_kernel([=, &pool = context.pool](const LaunchArgs& args) {
      const AdamStep step =
          make_step(settings, *src<float>(args, 4), static_cast<double>(*src<int64_t>(args, 5)), *src<float>(args, 6));
      const AdamArrays arrays{.param = src<float>(args, 0),
                              .grad = src<float>(args, 1),
                              .m = src<float>(args, 2),
                              .v = src<float>(args, 3),
                              .v_max = has_v_max ? src<float>(args, 7) : nullptr,
                              .new_param = dst<float>(args, 0),
                              .new_m = dst<float>(args, 1),
                              .new_v = dst<float>(args, 2),
                              .new_v_max = has_v_max ? dst<float>(args, 3) : nullptr};
      run(pool, cut, [&](Range range, int64_t) { HWY_DYNAMIC_DISPATCH(adam_task)(step, arrays, range); });
    });
  };
}

}  // namespace

void define_adam(KernelTable& table) {
  table.add("adam", prepare_adam(false));
  table.add("adamw", prepare_adam(true));
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
