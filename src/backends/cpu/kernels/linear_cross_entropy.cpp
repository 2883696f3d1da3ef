// linear_cross_entropy: the projection to classes and its loss in chunks of rows, so that the logits never exist whole;
// with all gradients in the same pass where wanted.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/linear_cross_entropy.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include "backends/cpu/cross_entropy_row.h"
#include "backends/cpu/cut.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

void chunk_losses(const ClassLoss& loss, const float* logits, const int32_t* targets, Range rows, float* losses) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* x = logits + row * loss.classes;
    losses[row] = loss.counts(targets[row]) ? row_loss(loss, x, targets[row], log_sum_exp(x, loss.classes)) : 0.0f;
  }
}

/// Turns logits into their gradients.
void chunk_losses_and_grads(const ClassLoss& loss, float* logits, const int32_t* targets, Range rows, float scale,
                            float* losses) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    float* x = logits + row * loss.classes;
    const float lse = loss.counts(targets[row]) ? log_sum_exp(x, loss.classes) : 0.0f;
    losses[row] = row_loss(loss, x, targets[row], lse);
    row_loss_grad(loss, x, targets[row], lse, scale, x);
  }
}

/// dst[j] += Σ over rows of x[row · stride + j] for j in [0, n).
void add_rows(const float* x, int64_t rows, int64_t stride, float* dst, int64_t n) {
  for (int64_t row = 0; row < rows; ++row)
    map<Run::kAlong, Run::kAlong>([](F32, VF a, VF b) { return hn::Add(a, b); }, dst, x + row * stride, dst, n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/kernel_table.h"
#include "backends/cpu/product.h"
#include "ops/loss/logits_chunk.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(chunk_losses);
HWY_EXPORT(chunk_losses_and_grads);
HWY_EXPORT(add_rows);

/// Classes of a task: at most about 48 tasks, at least 128 classes, whole cache lines.
int64_t classes_per_task(int64_t classes) { return std::max<int64_t>(128, (classes + 47) / 48 / 16 * 16 + 16); }

/// Columns of d_x that one task makes: an equal share for each thread, as every task packs the logits, which no cache
/// holds (at 192 of 768 columns that costs a tenth of the work).
int64_t columns_per_task(int64_t width, int threads) {
  return std::max<int64_t>(kLineElements, whole_lines((width + threads - 1) / threads));
}

/// Its rows: in two parts beside other threads, so that one that is held up leaves less to wait for.
int64_t rows_per_task(int64_t rows, int threads) { return std::max<int64_t>(1, threads == 1 ? rows : (rows + 1) / 2); }

class LinearCrossEntropy final : public Kernel {
 public:
  LinearCrossEntropy(const program::Kernel& kernel, const CpuContext& context, int64_t chunk_rows)
      : pool_(context.pool),
        rows_(kernel.srcs[0].shape[0]),
        width_(kernel.srcs[0].shape[1]),
        loss_(make_class_loss(kernel.attributes, kernel.srcs[1].shape[0])),
        chunk_rows_(chunk_rows),
        has_bias_(kernel.srcs.size() > 4),
        has_grads_(kernel.dsts.size() > 1),
        adds_weight_(accumulates(kernel, 2)),
        adds_bias_(accumulates(kernel, 3)),
        class_cut_(loss_.classes, classes_per_task(loss_.classes)),
        column_cut_(width_, columns_per_task(width_, context.pool.threads())),
        room_numel_(whole_lines(
            std::max({product_room_numel(chunk_rows_, width_), product_room_numel(chunk_rows_, loss_.classes),
                      product_room_numel(class_cut_.per_task(), chunk_rows_)}))) {}

  /// The chunk's logits, the losses of its rows, and the threads' packed panels.
  int64_t workspace_bytes() const override {
    return whole_lines(chunk_rows_ * (loss_.classes + 1)) * static_cast<int64_t>(sizeof(float)) +
           pool_.threads() * room_numel_ * static_cast<int64_t>(sizeof(float));
  }

  void launch(const LaunchArgs& args) const override {
    double sum = 0;
    bool is_first = true;
    for (int64_t begin = 0; begin < rows_ || is_first; begin += chunk_rows_) {
      sum += run_chunk(args, {begin, std::min(rows_, begin + chunk_rows_)}, is_first);
      is_first = false;
    }
    *dst<float>(args, 0) = static_cast<float>(sum * *src<float>(args, 3));
  }

 private:
  struct Chunk {
    Range rows;
    const float* x;
    const int32_t* targets;
    float* logits;
    float* losses;
    float* rooms;  ///< one for each thread's product
  };

  /// Returns the sum of the rows' losses. A chunk in which no row counts costs nothing.
  double run_chunk(const LaunchArgs& args, Range rows, bool is_first) const {
    auto* logits = static_cast<float*>(args.workspace);
    Chunk chunk{.rows = rows,
                .x = src<float>(args, 0) + rows.begin * width_,
                .targets = src<int32_t>(args, 2) + rows.begin,
                .logits = logits,
                .losses = logits + chunk_rows_ * loss_.classes,
                .rooms = logits + whole_lines(chunk_rows_ * (loss_.classes + 1))};
    const bool counts =
        std::any_of(chunk.targets, chunk.targets + rows.size(), [&](int32_t target) { return loss_.counts(target); });
    if (counts) {
      make_logits(args, chunk);
      make_losses(args, chunk);
    }
    if (has_grads_) {
      make_d_x(args, chunk, counts);
      make_d_weight(args, chunk, counts, is_first);
    }
    double sum = 0;
    for (int64_t row = 0; counts && row < rows.size(); ++row) sum += chunk.losses[row];
    return sum;
  }

  void make_logits(const LaunchArgs& args, const Chunk& chunk) const {
    run_in_rooms(pool_, class_cut_, room_numel_, chunk.rooms, [&](Range classes, float* room) {
      multiply({.m = chunk.rows.size(),
                .n = classes.size(),
                .k = width_,
                .a = {chunk.x, width_},
                .b = {src<float>(args, 1) + classes.begin * width_, width_, true},
                .bias = has_bias_ ? src<float>(args, 4) + classes.begin : nullptr,
                .dst = chunk.logits + classes.begin,
                .stride = loss_.classes,
                .room = room});
    });
  }

  void make_losses(const LaunchArgs& args, const Chunk& chunk) const {
    constexpr int64_t kCostPerClass = 16;
    const float scale = *src<float>(args, 3);
    run(pool_, cut_by_cost(chunk.rows.size(), loss_.classes * kCostPerClass), [&](Range rows, int64_t) {
      if (has_grads_) HWY_DYNAMIC_DISPATCH(chunk_losses_and_grads)
      (loss_, chunk.logits, chunk.targets, rows, scale, chunk.losses);
      else HWY_DYNAMIC_DISPATCH(chunk_losses)(loss_, chunk.logits, chunk.targets, rows, chunk.losses);
    });
  }

  void make_d_x(const LaunchArgs& args, const Chunk& chunk, bool counts) const {
    const Cut row_cut(chunk.rows.size(), rows_per_task(chunk.rows.size(), pool_.threads()));
    float* d_x = dst<float>(args, 1) + chunk.rows.begin * width_;
    run_in_rooms(pool_, Cut(row_cut.tasks() * column_cut_.tasks(), 1), room_numel_, chunk.rooms,
                 [&](Range tasks, float* room) {
                   const Range rows = row_cut[tasks.begin % row_cut.tasks()];
                   const Range columns = column_cut_[tasks.begin / row_cut.tasks()];
                   multiply({.m = rows.size(),
                             .n = columns.size(),
                             .k = counts ? loss_.classes : 0,
                             .a = {chunk.logits + rows.begin * loss_.classes, loss_.classes},
                             .b = {src<float>(args, 1) + columns.begin, width_},
                             .dst = d_x + rows.begin * width_ + columns.begin,
                             .stride = width_,
                             .room = room});
                 });
  }

  /// The first chunk overwrites, unless the caller accumulates.
  void make_d_weight(const LaunchArgs& args, const Chunk& chunk, bool counts, bool is_first) const {
    const int64_t rows = counts ? chunk.rows.size() : 0;
    run_in_rooms(pool_, class_cut_, room_numel_, chunk.rooms, [&](Range classes, float* room) {
      multiply({.m = classes.size(),
                .n = width_,
                .k = rows,
                .a = {chunk.logits + classes.begin, loss_.classes, true},
                .b = {chunk.x, width_},
                .dst = dst<float>(args, 2) + classes.begin * width_,
                .stride = width_,
                .accumulate = adds_weight_ || !is_first,
                .room = room});
      if (!has_bias_) return;
      float* d_bias = dst<float>(args, 3) + classes.begin;
      if (is_first && !adds_bias_) std::memset(d_bias, 0, static_cast<size_t>(classes.size()) * sizeof(float));
      HWY_DYNAMIC_DISPATCH(add_rows)(chunk.logits + classes.begin, rows, loss_.classes, d_bias, classes.size());
    });
  }

  ThreadPool& pool_;
  int64_t rows_;
  int64_t width_;
  ClassLoss loss_;
  int64_t chunk_rows_;
  bool has_bias_;
  bool has_grads_;
  bool adds_weight_;
  bool adds_bias_;
  Cut class_cut_;
  Cut column_cut_;
  int64_t room_numel_;
};

int64_t chunk_rows_of(const program::Kernel& kernel) {
  return ops::logits_chunk_rows(kernel.srcs[0].shape[0], kernel.srcs[1].shape[0],
                                kernel.attributes.get_int("chunk_rows"));
}

Result<std::unique_ptr<Kernel>> prepare_linear_cross_entropy(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {2}));
  if (accumulates(kernel, 1)) return unsupported("[" + kernel.op + "] the cpu kernel does not add into d_x");
  return std::unique_ptr<Kernel>(std::make_unique<LinearCrossEntropy>(kernel, context, chunk_rows_of(kernel)));
}

}  // namespace

void define_linear_cross_entropy(KernelTable& table) {
  table.add("linear_cross_entropy", prepare_linear_cross_entropy);
  table.add("linear_cross_entropy_with_grad", prepare_linear_cross_entropy);
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
