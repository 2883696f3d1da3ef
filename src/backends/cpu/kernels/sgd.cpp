// sgd: one pass over parameter, gradient and momentum.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/sgd.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include "backends/cpu/cut.h"
#include "backends/cpu/simd.h"

#ifndef PLIMSOLL_BACKENDS_CPU_SGD
#define PLIMSOLL_BACKENDS_CPU_SGD
namespace plimsoll::backends::cpu {
struct SgdSettings {
  float momentum;
  float keep;  ///< 1 - dampening
  bool is_nesterov;
  float weight_decay;
};
struct SgdStep {
  float lr;
  float grad_scale;
};
struct SgdArrays {
  const float* param;
  const float* grad;
  const float* momentum;  ///< nullptr: none is kept
  float* new_param;
  float* new_momentum;
};
}  // namespace plimsoll::backends::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

/// The arithmetic is in PyTorch's order, without fused products, so that parameters follow its to the last bits.
template <bool has_momentum, class Load, class Store>
void sgd_vector(const SgdSettings& settings, const SgdStep& step, const SgdArrays& a, const Load& load,
                const Store& store) {
  const F32 d;
  const VF param = load(a.param);
  VF g = hn::Mul(load(a.grad), hn::Set(d, step.grad_scale));
  if (settings.weight_decay != 0) g = hn::Add(g, hn::Mul(param, hn::Set(d, settings.weight_decay)));
  if constexpr (has_momentum) {
    const VF factor = hn::Set(d, settings.momentum);
    const VF m = hn::Add(hn::Mul(load(a.momentum), factor), hn::Mul(g, hn::Set(d, settings.keep)));
    store(m, a.new_momentum);
    g = settings.is_nesterov ? hn::Add(g, hn::Mul(m, factor)) : m;
  }
  store(hn::Sub(param, hn::Mul(g, hn::Set(d, step.lr))), a.new_param);
}

template <bool has_momentum>
void sgd_range(const SgdSettings& settings, const SgdStep& step, const SgdArrays& a, Range range) {
  for_vectors(range.begin, range.end, [&](int64_t, const auto& load, const auto& store) {
    sgd_vector<has_momentum>(settings, step, a, load, store);
  });
}

void sgd_task(const SgdSettings& settings, const SgdStep& step, const SgdArrays& a, Range range) {
  if (a.momentum != nullptr)
    sgd_range<true>(settings, step, a, range);
  else
    sgd_range<false>(settings, step, a, range);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(sgd_task);

Result<std::unique_ptr<Kernel>> prepare_sgd(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  const Attributes& attributes = kernel.attributes;
  const SgdSettings settings{.momentum = static_cast<float>(attributes.get_float("momentum")),
                             .keep = static_cast<float>(1 - attributes.get_float("dampening")),
                             .is_nesterov = attributes.get_bool("nesterov"),
                             .weight_decay = static_cast<float>(attributes.get_float("weight_decay"))};
  const bool has_momentum = kernel.srcs.size() > 4;
  const Cut cut(kernel.dsts[0].numel(), kUpdateElements);
  return make_kernel([=, &pool = context.pool](const LaunchArgs& args) {
    const SgdStep step{.lr = *src<float>(args, 2), .grad_scale = *src<float>(args, 3)};
    const SgdArrays arrays{.param = src<float>(args, 0),
                           .grad = src<float>(args, 1),
                           .momentum = has_momentum ? src<float>(args, 4) : nullptr,
                           .new_param = dst<float>(args, 0),
                           .new_momentum = has_momentum ? dst<float>(args, 1) : nullptr};
    run(pool, cut, [&](Range range, int64_t) { HWY_DYNAMIC_DISPATCH(sgd_task)(settings, step, arrays, range); });
  });
}

}  // namespace

void define_sgd(KernelTable& table) { table.add("sgd", prepare_sgd); }

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
