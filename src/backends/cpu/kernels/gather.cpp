// gather along one axis, its gradient, and one_hot. An index outside the axis gives zeros and is never followed.
#include <cstring>

#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"
#include "ops/infer_rules.h"

namespace plimsoll::backends::cpu {
namespace {

/// dst[o, i, :] = src[o, indices[i], :]
struct Gather {
  ops::AxisSpan span;
  int64_t indices = 0;
};

Gather make_gather(const Shape& src, const Attributes& attributes, int64_t indices) {
  return {ops::make_axis_span(src, ops::axis_of(src, attributes)), indices};
}

Result<std::unique_ptr<Kernel>> prepare_gather(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  const Gather g = make_gather(kernel.srcs[0].shape, kernel.attributes, kernel.srcs[1].numel());
  const int64_t row_bytes = g.span.inner * size_bytes(kernel.dsts[0].dtype);
  const Cut cut = cut_by_cost(g.span.outer * g.indices, g.span.inner);
  return make_kernel([g, row_bytes, cut, &pool = context.pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range rows, int64_t) {
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        const int64_t index = src<int32_t>(args, 1)[row % g.indices];
        auto* to = dst<unsigned char>(args, 0) + row * row_bytes;
        const auto* from = src<unsigned char>(args, 0) + row / g.indices * g.span.extent * row_bytes;
        if (index < 0 || index >= g.span.extent)
          std::memset(to, 0, static_cast<size_t>(row_bytes));
        else
          std::memcpy(to, from + index * row_bytes, static_cast<size_t>(row_bytes));
      }
    });
  });
}

/// Columns of one outer position that a task adds up, in the order of indices, so that repeated ones add alike.
void add_columns(const Gather& g, Range range, bool accumulates, const LaunchArgs& args) {
  for (int64_t column = range.begin; column < range.end; ++column) {
    const int64_t outer = column / g.span.inner;
    float* to = dst<float>(args, 0) + outer * g.span.extent * g.span.inner + column % g.span.inner;
    const float* from = src<float>(args, 1) + outer * g.indices * g.span.inner + column % g.span.inner;
    for (int64_t k = 0; !accumulates && k < g.span.extent; ++k) to[k * g.span.inner] = 0;
    for (int64_t i = 0; i < g.indices; ++i) {
      const int64_t index = src<int32_t>(args, 0)[i];
      if (index >= 0 && index < g.span.extent) to[index * g.span.inner] += from[i * g.span.inner];
    }
  }
}

Result<std::unique_ptr<Kernel>> prepare_gather_grad(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {0}));
  const Gather g = make_gather(kernel.dsts[0].shape, kernel.attributes, kernel.srcs[0].numel());
  const Cut cut = cut_by_cost(g.span.outer * g.span.inner, g.span.extent + g.indices, kLineElements);
  return make_kernel([g, cut, accumulates = accumulates(kernel, 0), &pool = context.pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) { add_columns(g, range, accumulates, args); });
  });
}

Result<std::unique_ptr<Kernel>> prepare_one_hot(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {0}));
  const int64_t depth = kernel.attributes.get_int("depth");
  const Cut cut = cut_by_cost(kernel.srcs[0].numel(), depth);
  return make_kernel([depth, cut, &pool = context.pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) {
      std::fill_n(dst<float>(args, 0) + range.begin * depth, range.size() * depth, 0.0f);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t id = src<int32_t>(args, 0)[i];
        if (id >= 0 && id < depth) dst<float>(args, 0)[i * depth + id] = 1;
      }
    });
  });
}

}  // namespace

void define_gather(KernelTable& table) {
  table.add("gather", prepare_gather);
  table.add("gather_grad", prepare_gather_grad);
  table.add("one_hot", prepare_one_hot);
}

}  // namespace plimsoll::backends::cpu
