// softmax and log_softmax along one axis, and their gradients.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/softmax.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include <cmath>

#include "backends/cpu/cut.h"
#include "backends/cpu/row_math.h"

#ifndef PLIMSOLL_BACKENDS_CPU_SOFTMAX_PASS
#define PLIMSOLL_BACKENDS_CPU_SOFTMAX_PASS
namespace plimsoll::backends::cpu {
enum class SoftmaxPass { kForward, kGrad, kLogForward, kLogGrad };
}
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

void softmax_row(const float* x, float* y, int64_t n) {
  const float sum = exp_row(x, y, n, row_max(x, n));
  scale_row(y, y, n, 1.0f / sum);
}

void log_softmax_row(const float* x, float* y, int64_t n) {
  const float top = row_max(x, n);
  const float log_sum = std::log(exp_sum(x, n, top));
  map([=](F32 d, VF v) { return hn::Sub(hn::Sub(v, hn::Set(d, top)), hn::Set(d, log_sum)); }, x, y, n);
}

/// d_x = y · (d_y - Σ y d_y)
void softmax_grad_row(const float* y, const float* d_y, float* d_x, int64_t n) {
  const float dot = sum_over(n, [=](F32, int64_t, auto load) { return hn::Mul(load(y), load(d_y)); });
  map<Run::kAlong, Run::kAlong>([dot](F32 d, VF a, VF b) { return hn::Mul(a, hn::Sub(b, hn::Set(d, dot))); }, y, d_y,
                                d_x, n);
}

/// d_x = d_y - e^y · Σ d_y
void log_softmax_grad_row(const float* y, const float* d_y, float* d_x, int64_t n) {
  const float sum = row_sum(d_y, n);
  map<Run::kAlong, Run::kAlong>(
      [sum](F32 d, VF a, VF b) { return hn::NegMulAdd(exp_below_88(d, a), hn::Set(d, sum), b); }, y, d_y, d_x, n);
}

void softmax_rows(SoftmaxPass pass, const float* a, const float* b, float* dst, Range rows, int64_t n) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int64_t at = row * n;
    switch (pass) {
      case SoftmaxPass::kForward: softmax_row(a + at, dst + at, n); break;
      case SoftmaxPass::kGrad: softmax_grad_row(a + at, b + at, dst + at, n); break;
      case SoftmaxPass::kLogForward: log_softmax_row(a + at, dst + at, n); break;
      case SoftmaxPass::kLogGrad: log_softmax_grad_row(a + at, b + at, dst + at, n); break;
    }
  }
}

/// Lanes that lie side by side in memory while the axis runs with a stride.
class Columns {
 public:
  Columns(int64_t n, int64_t stride, size_t count) : n_(n), stride_(stride), count_(count) {}

  template <class F>
  VF fold(VF start, const F& f) const {
    for (int64_t i = 0; i < n_; ++i) start = f(start, i * stride_);
    return start;
  }
  VF load(const float* p) const { return count_ == hn::Lanes(d_) ? hn::LoadU(d_, p) : load_first(d_, p, count_); }
  void store(VF v, float* p) const { count_ == hn::Lanes(d_) ? hn::StoreU(v, d_, p) : store_first(d_, v, p, count_); }
  template <class F>
  void for_each(float* dst, const F& f) const {
    for (int64_t i = 0; i < n_; ++i) store(f(i * stride_), dst + i * stride_);
  }

 private:
  F32 d_;
  int64_t n_;
  int64_t stride_;
  size_t count_;
};

void forward_columns(bool is_log, const float* x, float* dst, const Columns& columns) {
  const F32 d;
  const VF top = columns.fold(hn::Set(d, -std::numeric_limits<float>::infinity()),
                              [&](VF m, int64_t at) { return hn::Max(m, columns.load(x + at)); });
  const auto exp_at = [&](int64_t at) { return exp_below_88(d, hn::Sub(columns.load(x + at), top)); };
  const VF sum = columns.fold(hn::Zero(d), [&](VF s, int64_t at) { return hn::Add(s, exp_at(at)); });
  if (!is_log) {
    const VF factor = hn::Div(hn::Set(d, 1.0f), sum);
    columns.for_each(dst, [&](int64_t at) { return hn::Mul(exp_at(at), factor); });
    return;
  }
  HWY_ALIGN float logs[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(sum, d, logs);
  for (size_t lane = 0; lane < hn::Lanes(d); ++lane) logs[lane] = std::log(logs[lane]);
  const VF log_sum = hn::Load(d, logs);
  columns.for_each(dst, [&](int64_t at) { return hn::Sub(hn::Sub(columns.load(x + at), top), log_sum); });
}

void grad_columns(bool is_log, const float* y, const float* d_y, float* dst, const Columns& columns) {
  const F32 d;
  const VF sum = columns.fold(hn::Zero(d), [&](VF s, int64_t at) {
    return is_log ? hn::Add(s, columns.load(d_y + at)) : hn::MulAdd(columns.load(y + at), columns.load(d_y + at), s);
  });
  columns.for_each(dst, [&](int64_t at) {
    const VF a = columns.load(y + at);
    const VF b = columns.load(d_y + at);
    return is_log ? hn::NegMulAdd(exp_below_88(d, a), sum, b) : hn::Mul(a, hn::Sub(b, sum));
  });
}

/// The axis has stride `inner`; `outer` is a range of the axes before it.
void softmax_planes(SoftmaxPass pass, const float* a, const float* b, float* dst, Range outer, int64_t n,
                    int64_t inner) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F32()));
  const bool is_log = pass == SoftmaxPass::kLogForward || pass == SoftmaxPass::kLogGrad;
  for (int64_t plane = outer.begin; plane < outer.end; ++plane) {
    for (int64_t column = 0; column < inner; column += lanes) {
      const int64_t at = plane * n * inner + column;
      const Columns columns(n, inner, static_cast<size_t>(std::min(lanes, inner - column)));
      if (pass == SoftmaxPass::kForward || pass == SoftmaxPass::kLogForward)
        forward_columns(is_log, a + at, dst + at, columns);
      else
        grad_columns(is_log, a + at, b + at, dst + at, columns);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/kernel_table.h"
#include "ops/infer_rules.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(softmax_rows);
HWY_EXPORT(softmax_planes);

/// About what an exponential costs, in elements moved.
constexpr int64_t kCostPerElement = 8;

Prepare prepare_softmax(SoftmaxPass pass) {
  return [pass](const program::Kernel& kernel, const CpuContext& context) -> Result<std::unique_ptr<Kernel>> {
    PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
    const Shape& shape = kernel.dsts[0].shape;
    const ops::AxisSpan span = ops::make_axis_span(shape, ops::axis_of(shape, kernel.attributes));
    const int64_t outer = span.outer, n = span.extent, inner = span.inner;
    if (outer * n * inner == 0) return make_kernel([](const LaunchArgs&) {});
    const Cut cut = cut_by_cost(outer, n * inner * kCostPerElement);
    const bool has_two = kernel.srcs.size() > 1;
    return make_kernel([=, &pool = context.pool](const LaunchArgs& args) {
      const float* a = src<float>(args, 0);
      const float* b = has_two ? src<float>(args, 1) : nullptr;
      float* out = dst<float>(args, 0);
      run(pool, cut, [&](Range range, int64_t) {
        if (inner == 1)
          HWY_DYNAMIC_DISPATCH(softmax_rows)(pass, a, b, out, range, n);
        else
          HWY_DYNAMIC_DISPATCH(softmax_planes)(pass, a, b, out, range, n, inner);
      });
    });
  };
}

}  // namespace

void define_softmax(KernelTable& table) {
  table.add("softmax", prepare_softmax(SoftmaxPass::kForward));
  table.add("softmax_grad", prepare_softmax(SoftmaxPass::kGrad));
  table.add("log_softmax", prepare_softmax(SoftmaxPass::kLogForward));
  table.add("log_softmax_grad", prepare_softmax(SoftmaxPass::kLogGrad));
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
