// layer_norm over the last axis, and its gradient.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/layer_norm.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include <cmath>

#include "backends/cpu/cut.h"
#include "backends/cpu/row_math.h"

#ifndef PLIMSOLL_BACKENDS_CPU_LAYER_NORM
#define PLIMSOLL_BACKENDS_CPU_LAYER_NORM
namespace plimsoll::backends::cpu {
struct LayerNormSrcs {
  const float* x;
  const float* weight;
  const float* bias;
};
struct LayerNormGradSrcs {
  const float* x;
  const float* weight;
  const float* mean;
  const float* rstd;
  const float* d_y;
};
}  // namespace plimsoll::backends::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Lanes of row [0, n) from i on that exist, as 1, and the others as 0.
VF lanes_within(F32 d, int64_t i, int64_t n) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (i + lanes <= n) return hn::Set(d, 1.0f);
  return hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(n - i)), hn::Set(d, 1.0f), hn::Zero(d));
}

void norm_rows(const LayerNormSrcs& s, float* y, float* mean, float* rstd, Range rows, int64_t n, float eps) {
  const F32 d;
  const float per_n = 1.0f / static_cast<float>(n);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* x = s.x + row * n;
    const float m = row_sum(x, n) * per_n;
    const VF vm = hn::Set(d, m);
    const float squares = sum_over(n, [=](F32 tag, int64_t i, auto load) {
      const VF centred = hn::Mul(hn::Sub(load(x), vm), lanes_within(tag, i, n));
      return hn::Mul(centred, centred);
    });
    const float r = 1.0f / std::sqrt(squares * per_n + eps);
    mean[row] = m;
    rstd[row] = r;
    const VF vr = hn::Set(d, r);
    float* out = y + row * n;
    for_vectors(0, n, [&](int64_t, auto load, auto store) {
      store(hn::MulAdd(hn::Mul(hn::Sub(load(x), vm), vr), load(s.weight), load(s.bias)), out);
    });
  }
}

/// With x̂ = (x - mean) · rstd and g = d_y · weight: d_x = rstd · (g - mean(g) - x̂ · mean(g x̂)). d_weight += d_y x̂ and
/// d_bias += d_y.
template <bool add_to_d_x>
void norm_grad_rows_as(const LayerNormGradSrcs& s, float* d_x, float* d_weight, float* d_bias, Range rows, int64_t n) {
  const F32 d;
  const float per_n = 1.0f / static_cast<float>(n);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* x = s.x + row * n;
    const float* d_y = s.d_y + row * n;
    float* out = d_x + row * n;
    const VF vm = hn::Set(d, s.mean[row]);
    const VF vr = hn::Set(d, s.rstd[row]);
    VF sum_g = hn::Zero(d);
    VF sum_gx = hn::Zero(d);
    for_vectors(0, n, [&](int64_t, auto load, auto store) {
      const VF dy = load(d_y);
      const VF xh = hn::Mul(hn::Sub(load(x), vm), vr);
      const VF g = hn::Mul(dy, load(s.weight));
      sum_g = hn::Add(sum_g, g);
      sum_gx = hn::MulAdd(g, xh, sum_gx);  // past the row g is 0
      store(hn::MulAdd(dy, xh, load(d_weight)), d_weight);
      store(hn::Add(load(d_bias), dy), d_bias);
    });
    const VF mean_g = hn::Set(d, sum_of_lanes(d, sum_g) * per_n);
    const VF mean_gx = hn::Set(d, sum_of_lanes(d, sum_gx) * per_n);
    for_vectors(0, n, [&](int64_t, auto load, auto store) {
      const VF xh = hn::Mul(hn::Sub(load(x), vm), vr);
      const VF g = hn::Mul(load(d_y), load(s.weight));
      const VF d_row = hn::Mul(vr, hn::NegMulAdd(xh, mean_gx, hn::Sub(g, mean_g)));
      store(add_to_d_x ? hn::Add(load(out), d_row) : d_row, out);
    });
  }
}

void norm_grad_rows(const LayerNormGradSrcs& s, float* d_x, bool add_to_d_x, float* d_weight, float* d_bias, Range rows,
                    int64_t n) {
  if (add_to_d_x)
    norm_grad_rows_as<true>(s, d_x, d_weight, d_bias, rows, n);
  else
    norm_grad_rows_as<false>(s, d_x, d_weight, d_bias, rows, n);
}

/// dst += src
void add_row(const float* src, float* dst, int64_t n) {
  map<Run::kAlong, Run::kAlong>([](F32, VF a, VF b) { return hn::Add(a, b); }, dst, src, dst, n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/kernel_table.h"
#include "ops/nn/layer_norm.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(norm_rows);
HWY_EXPORT(norm_grad_rows);
HWY_EXPORT(add_row);

Result<std::unique_ptr<Kernel>> prepare_norm(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  const int64_t n = kernel.srcs[1].numel();
  const int64_t rows = kernel.dsts[1].numel();
  const auto eps = static_cast<float>(kernel.attributes.get_float("eps"));
  const Cut cut = cut_by_cost(rows, 3 * n);
  return make_kernel([=, &pool = context.pool](const LaunchArgs& args) {
    const LayerNormSrcs srcs{src<float>(args, 0), src<float>(args, 1), src<float>(args, 2)};
    run(pool, cut, [&](Range range, int64_t) {
      HWY_DYNAMIC_DISPATCH(norm_rows)
      (srcs, dst<float>(args, 0), dst<float>(args, 1), dst<float>(args, 2), range, n, eps);
    });
  });
}

/// Adds the blocks' partial rows of `n` in the order of blocks.
void add_blocks(const float* partials, int64_t blocks, int64_t stride, float* dst, int64_t n, bool accumulate) {
  if (!accumulate) std::memset(dst, 0, static_cast<size_t>(n) * sizeof(float));
  for (int64_t block = 0; block < blocks; ++block) HWY_DYNAMIC_DISPATCH(add_row)(partials + block * stride, dst, n);
}

Result<std::unique_ptr<Kernel>> prepare_norm_grad(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  const int64_t n = kernel.srcs[1].numel();
  const int64_t rows = kernel.srcs[2].numel();
  const Cut by_cost = cut_by_cost(rows, 6 * n);
  const int64_t even = (rows + ops::kMostLayerNormBlocks - 1) / ops::kMostLayerNormBlocks;
  const Cut cut(rows, std::max({by_cost.per_task(), even, int64_t{1}}));
  const bool adds_x = accumulates(kernel, 0);
  const bool adds_weight = accumulates(kernel, 1);
  const bool adds_bias = accumulates(kernel, 2);
  // A block's partial sums: d_weight, then d_bias.
  const int64_t workspace_bytes = cut.tasks() * 2 * n * int64_t{sizeof(float)};
  const auto launch = [=, &pool = context.pool](const LaunchArgs& args) {
    const LayerNormGradSrcs srcs{src<float>(args, 0), src<float>(args, 1), src<float>(args, 2), src<float>(args, 3),
                                 src<float>(args, 4)};
    auto* partials = static_cast<float*>(args.workspace);
    run(pool, cut, [&](Range range, int64_t task) {
      float* partial = partials + task * 2 * n;
      std::memset(partial, 0, static_cast<size_t>(2 * n) * sizeof(float));
      HWY_DYNAMIC_DISPATCH(norm_grad_rows)(srcs, dst<float>(args, 0), adds_x, partial, partial + n, range, n);
    });
    add_blocks(partials, cut.tasks(), 2 * n, dst<float>(args, 1), n, adds_weight);
    add_blocks(partials + n, cut.tasks(), 2 * n, dst<float>(args, 2), n, adds_bias);
  };
  return make_kernel(launch, workspace_bytes);
}

}  // namespace

void define_layer_norm(KernelTable& table) {
  table.add("layer_norm", prepare_norm);
  table.add("layer_norm_grad", prepare_norm_grad);
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
