// attention_grad: probabilities are made again from lse, tile by tile.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/attention_grad.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include "backends/cpu/attention_forward.h"
#include "backends/cpu/dropout_row.h"
#include "backends/cpu/row_math.h"

#ifndef PLIMSOLL_BACKENDS_CPU_SCORE_TILE
#define PLIMSOLL_BACKENDS_CPU_SCORE_TILE
namespace plimsoll::backends::cpu {

/// The largest tile: measured on Zen 3, the five products of such a tile run at 85 of 92 GFLOP/s.
constexpr int64_t kTileQueries = 128;
constexpr int64_t kTileKeys = 64;

/// Scores of some queries and keys of one head, on their way to probabilities and gradients.
struct ScoreTile {
  int64_t stride;  ///< between rows of p and d_score
  float* p;        ///< scores in, probabilities out
  float* d_score;  ///< d_o · v in, gradients of q · k out
  float* factor_room;
  float* product_room;
};

/// What one row of a tile is made from.
struct ScoreRow {
  const float* o;
  const float* d_o;
  int64_t head_size;
  float lse;
  float scale;
  const int32_t* mask;   ///< of the tile's first key, or nullptr
  int64_t seen;          ///< so many of the tile's keys are visible …
  int64_t keys;          ///< … of so many
  const float* factors;  ///< of dropout, or nullptr
};
}  // namespace plimsoll::backends::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

/// p = e^(scale · score - lse); d_score = scale · p · (d_o · v - d_o · o). 0 where the query does not see the key. With
/// dropout d_o · v and, at last, p are multiplied by its factors.
void make_row(const ScoreRow& row, float* p, float* d_score) {
  const float delta =
      sum_over(row.head_size, [&](F32, int64_t, auto load) { return hn::Mul(load(row.o), load(row.d_o)); });
  // A query that sees no key at all has lse = -inf.
  const int64_t n = row.lse == -std::numeric_limits<float>::infinity() ? 0 : row.seen;
  map([&](F32 d, VF score) { return exp_below_88(d, hn::MulSub(score, hn::Set(d, row.scale), hn::Set(d, row.lse))); },
      p, p, n);
  for (int64_t i = 0; row.mask != nullptr && i < n; ++i)
    if (row.mask[i] == 0) p[i] = 0;
  if (row.factors != nullptr) multiply_row(d_score, row.factors, n);
  map<Run::kAlong, Run::kAlong>(
      [&](F32 d, VF dp, VF probability) {
        return hn::Mul(hn::Mul(hn::Sub(dp, hn::Set(d, delta)), probability), hn::Set(d, row.scale));
      },
      d_score, p, d_score, n);
  if (row.factors != nullptr) multiply_row(p, row.factors, n);
  std::memset(p + n, 0, static_cast<size_t>(row.keys - n) * sizeof(float));
  std::memset(d_score + n, 0, static_cast<size_t>(row.keys - n) * sizeof(float));
}

const float* make_row_factors(const DropoutDraw& draw, uint64_t first, int64_t n, float* room) {
  return make_factors(draw, first, n, room);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(make_row);
HWY_EXPORT(make_row_factors);

/// A tile as large as these sizes need.
ScoreTile make_tile(const ops::AttentionSizes& sizes, RoomCutter& room) {
  const int64_t queries = std::min(kTileQueries, sizes.queries);
  const int64_t keys = std::min(kTileKeys, sizes.keys);
  ScoreTile tile{};
  tile.stride = whole_lines(keys);
  tile.p = room.take(queries * tile.stride);
  tile.d_score = room.take(queries * tile.stride);
  tile.factor_room = room.take(keys + kFactorSlack);
  const int64_t depth = std::max({queries, keys, sizes.head_size});
  tile.product_room = room.take(product_room_numel(std::max(queries, keys), depth));
  return tile;
}

int64_t tile_numel(const ops::AttentionSizes& sizes) {
  RoomCutter counter(nullptr);
  make_tile(sizes, counter);
  return counter.taken();
}

/// The tensors of one launch, of all heads.
struct GradOperands {
  const float* q;
  const float* k;
  const float* v;
  const float* o;
  const float* lse;
  const float* d_o;
  const int32_t* mask;  ///< or nullptr
  float* d_q;
  float* d_k;
  float* d_v;
};

/// The gradient of one head of one batch element; a unit of work, so that nobody else adds to its rows of d_k and d_v.
///
/// Source: Dao, "FlashAttention-2", 2023, algorithm 2.
class HeadGrad {
 public:
  HeadGrad(const AttentionSettings& settings, const GradOperands& all, std::optional<DropoutDraw> dropout, int64_t head)
      : settings_(settings),
        head_(head),
        stride_(settings.sizes.heads * settings.sizes.head_size),
        src_stride_(settings.src_stride),
        dropout_(std::move(dropout)) {
    const ops::AttentionSizes& s = settings.sizes;
    const int64_t b = head / s.heads, column = head % s.heads * s.head_size;
    const int64_t q_at = b * s.queries * src_stride_ + column, k_at = b * s.keys * src_stride_ + column;
    const int64_t o_at = b * s.queries * stride_ + column;
    of_ = {.q = all.q + q_at,
           .k = all.k + k_at,
           .v = all.v + k_at,
           .o = all.o + o_at,
           .lse = all.lse + head * s.queries,
           .d_o = all.d_o + o_at,
           .mask = all.mask == nullptr ? nullptr : all.mask + b * s.keys,
           .d_q = all.d_q + q_at,
           .d_k = all.d_k + k_at,
           .d_v = all.d_v + k_at};
  }

  void run(ScoreTile& tile) const {
    zero_rows(of_.d_q, settings_.sizes.queries);
    zero_rows(of_.d_k, settings_.sizes.keys);
    zero_rows(of_.d_v, settings_.sizes.keys);
    const Cut key_cut(settings_.sizes.keys, kTileKeys);
    for (int64_t task = 0; task < key_cut.tasks(); ++task) {
      const int64_t first = first_query_that_sees(key_cut[task].begin);
      const Cut query_cut(settings_.sizes.queries - first, kTileQueries);
      for (int64_t i = 0; i < query_cut.tasks(); ++i)
        add_tile(tile, {first + query_cut[i].begin, first + query_cut[i].end}, key_cut[task]);
    }
  }

 private:
  int64_t first_query_that_sees(int64_t key) const {
    const ops::AttentionSizes& s = settings_.sizes;
    return settings_.causal ? std::clamp<int64_t>(key + s.queries - s.keys, 0, s.queries) : 0;
  }

  void zero_rows(float* rows, int64_t count) const {
    for (int64_t i = 0; i < count; ++i)
      std::memset(rows + i * src_stride_, 0, static_cast<size_t>(settings_.sizes.head_size) * sizeof(float));
  }

  /// dst[m,n] = a · bᵀ over the head's size.
  void make_scores(const ScoreTile& tile, const Matrix& a, const Matrix& b, int64_t m, int64_t n, float* dst) const {
    multiply({.m = m,
              .n = n,
              .k = settings_.sizes.head_size,
              .a = a,
              .b = b,
              .dst = dst,
              .stride = tile.stride,
              .room = tile.product_room});
  }

  /// Dropout's, of query t and the keys [first_key, first_key + count).
  const float* make_factors(ScoreTile& tile, int64_t t, int64_t first_key, int64_t count) const {
    const int64_t weight = (head_ * settings_.sizes.queries + t) * settings_.sizes.keys + first_key;
    return HWY_DYNAMIC_DISPATCH(make_row_factors)(*dropout_, dropout_->first + static_cast<uint64_t>(weight), count,
                                                  tile.factor_room);
  }

  void make_rows(ScoreTile& tile, Range queries, Range keys) const {
    for (int64_t t = queries.begin; t < queries.end; ++t) {
      const int64_t seen =
          std::clamp<int64_t>(visible_keys(settings_.sizes, t, settings_.causal) - keys.begin, 0, keys.size());
      const ScoreRow row{.o = of_.o + t * stride_,
                         .d_o = of_.d_o + t * stride_,
                         .head_size = settings_.sizes.head_size,
                         .lse = of_.lse[t],
                         .scale = settings_.scale,
                         .mask = of_.mask == nullptr ? nullptr : of_.mask + keys.begin,
                         .seen = seen,
                         .keys = keys.size(),
                         .factors = dropout_ ? make_factors(tile, t, keys.begin, seen) : nullptr};
      const int64_t at = (t - queries.begin) * tile.stride;
      HWY_DYNAMIC_DISPATCH(make_row)(row, tile.p + at, tile.d_score + at);
    }
  }

  /// dst[m,head_size] += scores · rows, dst one of d_q, d_k and d_v
  void add_product(const ScoreTile& tile, const Matrix& scores, const Matrix& rows, int64_t m, int64_t k,
                   float* dst) const {
    multiply({.m = m,
              .n = settings_.sizes.head_size,
              .k = k,
              .a = scores,
              .b = rows,
              .dst = dst,
              .stride = src_stride_,
              .accumulate = true,
              .room = tile.product_room});
  }

  void add_tile(ScoreTile& tile, Range queries, Range keys) const {
    const int64_t q_at = queries.begin * src_stride_, k_at = keys.begin * src_stride_;
    const Matrix q{of_.q + q_at, src_stride_}, k{of_.k + k_at, src_stride_};
    const Matrix d_o{of_.d_o + queries.begin * stride_, stride_};
    make_scores(tile, q, {k.data, k.stride, true}, queries.size(), keys.size(), tile.p);
    make_scores(tile, d_o, {of_.v + k_at, src_stride_, true}, queries.size(), keys.size(), tile.d_score);
    make_rows(tile, queries, keys);
    add_product(tile, {tile.p, tile.stride, true}, d_o, keys.size(), queries.size(), of_.d_v + k_at);
    add_product(tile, {tile.d_score, tile.stride, true}, q, keys.size(), queries.size(), of_.d_k + k_at);
    add_product(tile, {tile.d_score, tile.stride}, k, queries.size(), keys.size(), of_.d_q + q_at);
  }

  const AttentionSettings& settings_;
  int64_t head_;
  int64_t stride_;      ///< of o and d_o
  int64_t src_stride_;  ///< of q, k, v and their gradients
  GradOperands of_{};   ///< this head's
  std::optional<DropoutDraw> dropout_;
};

/// `find` gives the operands of a launch.
template <class Find>
std::unique_ptr<Kernel> make_grad(const AttentionSettings& settings, ThreadPool& pool, const Find& find) {
  const ops::AttentionSizes& sizes = settings.sizes;
  const Cut cut = cut_evenly(sizes.batch * sizes.heads);
  const int64_t numel = tile_numel(sizes);
  const auto launch = [settings, cut, numel, find, &pool](const LaunchArgs& args) {
    const GradOperands operands = find(args);
    run_in_rooms(pool, cut, numel, args.workspace, [&](Range heads, float* room) {
      RoomCutter cutter(room);
      ScoreTile tile = make_tile(settings.sizes, cutter);
      for (int64_t head = heads.begin; head < heads.end; ++head)
        HeadGrad(settings, operands, settings.draw(args), head).run(tile);
    });
  };
  return make_kernel(launch, rooms_bytes(cut, numel, pool.threads()));
}

Result<std::unique_ptr<Kernel>> prepare_attention_grad(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {6, 7, 8, 9}));
  const AttentionSettings settings(kernel, 6, ops::attention_sizes(kernel.srcs[0].shape, kernel.srcs[1].shape));
  return make_grad(settings, context.pool, [has_mask = settings.has_mask](const LaunchArgs& args) {
    return GradOperands{.q = src<float>(args, 0),
                        .k = src<float>(args, 1),
                        .v = src<float>(args, 2),
                        .o = src<float>(args, 3),
                        .lse = src<float>(args, 4),
                        .d_o = src<float>(args, 5),
                        .mask = has_mask ? src<int32_t>(args, 6) : nullptr,
                        .d_q = dst<float>(args, 0),
                        .d_k = dst<float>(args, 1),
                        .d_v = dst<float>(args, 2)};
  });
}

Result<std::unique_ptr<Kernel>> prepare_packed_grad(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {4, 5, 6, 7}));
  const AttentionSettings settings = packed_attention_settings(kernel, 4);
  const auto find = [has_mask = settings.has_mask, width = settings.src_stride / 3](const LaunchArgs& args) {
    const float* qkv = src<float>(args, 0);
    float* d_qkv = dst<float>(args, 0);
    return GradOperands{.q = qkv,
                        .k = qkv + width,
                        .v = qkv + 2 * width,
                        .o = src<float>(args, 1),
                        .lse = src<float>(args, 2),
                        .d_o = src<float>(args, 3),
                        .mask = has_mask ? src<int32_t>(args, 4) : nullptr,
                        .d_q = d_qkv,
                        .d_k = d_qkv + width,
                        .d_v = d_qkv + 2 * width};
  };
  return make_grad(settings, context.pool, find);
}

}  // namespace

void define_attention_grad(KernelTable& table) {
  table.add("attention_grad", prepare_attention_grad);
  table.add("attention_packed_grad", prepare_packed_grad);
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
