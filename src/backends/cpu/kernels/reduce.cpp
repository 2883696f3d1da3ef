// Reductions over axes: sum, mean, max, min, product, and the sum of squares.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/reduce.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own headers after foreach_target.h.
#include "backends/cpu/reduce_loop.h"
#include "backends/cpu/simd.h"

#ifndef PLIMSOLL_BACKENDS_CPU_REDUCE_OP
#define PLIMSOLL_BACKENDS_CPU_REDUCE_OP
#include <algorithm>
#include <limits>
#include <utility>

namespace plimsoll::backends::cpu {
enum class ReduceOp : uint8_t { kSum, kSumOfSquares, kMax, kMin, kProduct };

inline double start_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kMax: return -std::numeric_limits<double>::infinity();
    case ReduceOp::kMin: return std::numeric_limits<double>::infinity();
    case ReduceOp::kProduct: return 1;
    default: return 0;
  }
}

/// Joins two partial results; a NaN stays one.
inline double join(ReduceOp op, double a, double b) {
  switch (op) {
    case ReduceOp::kMax: return a != a || a > b ? a : b;
    case ReduceOp::kMin: return a != a || a < b ? a : b;
    case ReduceOp::kProduct: return a * b;
    default: return a + b;
  }
}
}  // namespace plimsoll::backends::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

template <ReduceOp op>
VF combine(VF so_far, VF x) {
  if constexpr (op == ReduceOp::kSum) return hn::Add(so_far, x);
  if constexpr (op == ReduceOp::kSumOfSquares) return hn::MulAdd(x, x, so_far);
  if constexpr (op == ReduceOp::kProduct) return hn::Mul(so_far, x);
  if constexpr (op == ReduceOp::kMax) return hn::IfThenElse(hn::Or(hn::IsNaN(so_far), hn::Gt(so_far, x)), so_far, x);
  return hn::IfThenElse(hn::Or(hn::IsNaN(so_far), hn::Lt(so_far, x)), so_far, x);
}

template <ReduceOp op>
double reduce_block(const float* p, int64_t n) {
  const F32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto start = static_cast<float>(start_of(op));
  VF v0 = hn::Set(d, start), v1 = v0, v2 = v0, v3 = v0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    v0 = combine<op>(v0, hn::LoadU(d, p + i));
    v1 = combine<op>(v1, hn::LoadU(d, p + i + lanes));
    v2 = combine<op>(v2, hn::LoadU(d, p + i + 2 * lanes));
    v3 = combine<op>(v3, hn::LoadU(d, p + i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) v0 = combine<op>(v0, hn::LoadU(d, p + i));
  if (i < n) v1 = combine<op>(v1, load_first(d, p + i, static_cast<size_t>(n - i), start));
  HWY_ALIGN float parts[HWY_MAX_BYTES];
  hn::Store(v0, d, parts);
  hn::Store(v1, d, parts + lanes);
  hn::Store(v2, d, parts + 2 * lanes);
  hn::Store(v3, d, parts + 3 * lanes);
  double out = start_of(op);
  for (int64_t k = 0; k < 4 * lanes; ++k) out = join(op, out, static_cast<double>(parts[k]));
  return out;
}

template <ReduceOp op>
double reduce_span(const float* p, int64_t n) {
  double out = start_of(op);
  for (int64_t i = 0; i < n; i += kReduceBlock)
    out = join(op, out, reduce_block<op>(p + i, std::min(kReduceBlock, n - i)));
  return out;
}

/// Rows that are added up in f32 before their sum goes to f64.
constexpr int64_t kRowsPerBlock = 64;

/// Vectors of neighbouring columns that are reduced together.
constexpr int64_t kVectors = std::min<int64_t>(8, kReduceColumns * sizeof(float) / HWY_MAX_BYTES);

/// totals[v · lanes …] = the rows' results for some vectors of neighbouring columns, row by row: the sums do not wait
/// for each other, and every row is read in one piece (one vector a row took four times as long at a stride of 12 KiB).
template <ReduceOp op, size_t... v>
void reduce_vectors(std::index_sequence<v...>, const float* p, int64_t rows, int64_t stride, float* totals) {
  const F32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  VF total[] = {((void)v, hn::Set(d, static_cast<float>(start_of(op))))...};
  for (int64_t row = 0; row < rows; ++row, p += stride)
    ((total[v] = combine<op>(total[v], hn::LoadU(d, p + static_cast<int64_t>(v) * lanes))), ...);
  (hn::Store(total[v], d, totals + static_cast<int64_t>(v) * lanes), ...);
}

template <ReduceOp op>
void reduce_rest(const float* p, int64_t rows, int64_t stride, size_t columns, float* totals) {
  const F32 d;
  const auto start = static_cast<float>(start_of(op));
  VF total = hn::Set(d, start);
  for (int64_t row = 0; row < rows; ++row) total = combine<op>(total, load_first(d, p + row * stride, columns, start));
  hn::Store(total, d, totals);
}

template <ReduceOp op>
void reduce_columns(const float* p, int64_t rows, int64_t stride, int64_t columns, double* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F32()));
  HWY_ALIGN float totals[kReduceColumns + HWY_MAX_BYTES / sizeof(float)];
  for (int64_t first = 0; first < rows; first += kRowsPerBlock, p += kRowsPerBlock * stride) {
    const int64_t count = std::min(kRowsPerBlock, rows - first);
    int64_t column = 0;
    for (; column + kVectors * lanes <= columns; column += kVectors * lanes)
      reduce_vectors<op>(std::make_index_sequence<kVectors>(), p + column, count, stride, totals + column);
    for (; column + lanes <= columns; column += lanes)
      reduce_vectors<op>(std::index_sequence<0>(), p + column, count, stride, totals + column);
    if (column < columns)
      reduce_rest<op>(p + column, count, stride, static_cast<size_t>(columns - column), totals + column);
    for (int64_t k = 0; k < columns; ++k) out[k] = join(op, out[k], static_cast<double>(totals[k]));
  }
}

template <class Body>
auto with_op(ReduceOp op, const Body& body) {
  switch (op) {
    case ReduceOp::kSum: return body.template operator()<ReduceOp::kSum>();
    case ReduceOp::kSumOfSquares: return body.template operator()<ReduceOp::kSumOfSquares>();
    case ReduceOp::kMax: return body.template operator()<ReduceOp::kMax>();
    case ReduceOp::kMin: return body.template operator()<ReduceOp::kMin>();
    case ReduceOp::kProduct: break;
  }
  return body.template operator()<ReduceOp::kProduct>();
}

double span_result(ReduceOp op, const float* p, int64_t n) {
  return with_op(op, [&]<ReduceOp o>() { return reduce_span<o>(p, n); });
}

void column_results(ReduceOp op, const float* p, int64_t rows, int64_t stride, int64_t columns, double* out) {
  with_op(op, [&]<ReduceOp o>() { reduce_columns<o>(p, rows, stride, columns, out); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cmath>

#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"
#include "ops/reduction/reduce.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(span_result);
HWY_EXPORT(column_results);

/// One reduction with everything decided. A task makes the results of some outputs from a slice of what is reduced;
/// slices' partial results wait as f64 in the workspace and are joined in the order of slices.
struct Reduction {
  ReduceOp op;
  ReduceLoop loop;
  double factor = 1;
  bool accumulates = false;

  void reduce(Range outputs, Range slice, const float* src, double* out) const {
    std::fill_n(out, outputs.size(), start_of(op));
    loop.for_pieces(outputs, slice, [&](int64_t offset, int64_t output, const ReduceLoop::Piece& piece) {
      double* to = out + (output - outputs.begin);
      if (piece.columns == 0)
        *to = join(op, *to, HWY_DYNAMIC_DISPATCH(span_result)(op, src + offset, piece.rows));
      else
        HWY_DYNAMIC_DISPATCH(column_results)(op, src + offset, piece.rows, piece.stride, piece.columns, to);
    });
  }

  void store(float* dst, int64_t output, double result) const {
    const double scaled = result * factor + (accumulates ? static_cast<double>(dst[output]) : 0);
    dst[output] = static_cast<float>(scaled);
  }
};

void launch(const Reduction& r, const Cut& outputs, const Cut& slices, ThreadPool& pool, const LaunchArgs& args) {
  const auto* from = src<float>(args, 0);
  auto* to = dst<float>(args, 0);
  auto* partials = static_cast<double*>(args.workspace);
  const int64_t numel = r.loop.outputs();
  pool.run(outputs.tasks() * slices.tasks(), [&](int64_t task, int) {
    const Range mine = outputs[task % outputs.tasks()];
    const int64_t slice = task / outputs.tasks();
    double results[kReduceColumns];
    for (int64_t first = mine.begin; first < mine.end; first += kReduceColumns) {
      const Range some{first, std::min(mine.end, first + kReduceColumns)};
      if (slices.tasks() > 1) {
        r.reduce(some, slices[slice], from, partials + slice * numel + first);
        continue;
      }
      r.reduce(some, {0, slices[0].end}, from, results);
      for (int64_t k = 0; k < some.size(); ++k) r.store(to, first + k, results[k]);
    }
  });
  for (int64_t output = 0; slices.tasks() > 1 && output < numel; ++output) {
    double total = partials[output];
    for (int64_t slice = 1; slice < slices.tasks(); ++slice)
      total = join(r.op, total, partials[slice * numel + output]);
    r.store(to, output, total);
  }
}

std::unique_ptr<Kernel> make_reduction(const Reduction& r, ThreadPool& pool) {
  const int64_t reduced = r.loop.reduced();
  const Cut outputs = cut_by_cost(r.loop.outputs(), std::max<int64_t>(1, reduced), kReduceColumns);
  // Few outputs of many elements each: what is reduced is cut as well.
  constexpr int64_t kFewTasks = 16;
  const Cut slices =
      outputs.tasks() < kFewTasks
          ? cut_by_cost(r.loop.slices(), reduced * r.loop.outputs() / std::max<int64_t>(1, r.loop.slices()),
                        r.loop.slice_multiple())
          : Cut(r.loop.slices(), std::max<int64_t>(1, r.loop.slices()));
  const int64_t partials = slices.tasks() > 1 ? slices.tasks() * r.loop.outputs() : 0;
  PLIMSOLL_CHECK(partials <= ops::most_partial_results(reduced * r.loop.outputs(), r.loop.outputs()), partials);
  return make_kernel([r, outputs, slices, &pool](const LaunchArgs& args) { launch(r, outputs, slices, pool, args); },
                     partials * int64_t{sizeof(double)});
}

Prepare prepare_reduce(ReduceOp op, bool is_mean = false) {
  return [op, is_mean](const program::Kernel& kernel, const CpuContext& context) -> Result<std::unique_ptr<Kernel>> {
    PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
    const Shape& shape = kernel.srcs[0].shape;
    const ReduceLoop loop(shape, ops::reduced_axes(kernel.attributes, shape.rank()));
    const double factor = is_mean ? 1 / static_cast<double>(loop.reduced()) : 1;
    return make_reduction({op, loop, factor, accumulates(kernel, 0)}, context.pool);
  };
}

Result<std::unique_ptr<Kernel>> prepare_sum_of_squares(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  std::array<bool, Shape::kMaxRank> all{};
  all.fill(true);
  return make_reduction({ReduceOp::kSumOfSquares, ReduceLoop(kernel.srcs[0].shape, all)}, context.pool);
}

}  // namespace

void define_reduce(KernelTable& table) {
  table.add("reduce_sum", prepare_reduce(ReduceOp::kSum));
  table.add("reduce_mean", prepare_reduce(ReduceOp::kSum, true));
  table.add("reduce_max", prepare_reduce(ReduceOp::kMax));
  table.add("reduce_min", prepare_reduce(ReduceOp::kMin));
  table.add("reduce_prod", prepare_reduce(ReduceOp::kProduct));
  table.add("sum_of_squares", prepare_sum_of_squares);
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
