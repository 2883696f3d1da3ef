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

/// The gradient of one head of one batch element; a unit of work, so that nobody else adds to its rows of d_k and d_v.
///
/// Source: Dao, "FlashAttention-2", 2023, algorithm 2.
class HeadGrad {
 public:
  HeadGrad(const AttentionSettings& settings, const LaunchArgs& args, int64_t head)
      : settings_(settings),
        head_(head),
        stride_(settings.sizes.heads * settings.sizes.head_size),
        q_at_(settings.sizes.q_at(head / settings.sizes.heads, 0, head % settings.sizes.heads)),
        k_at_(settings.sizes.k_at(head / settings.sizes.heads, 0, head % settings.sizes.heads)),
        q_(src<float>(args, 0) + q_at_),
        k_(src<float>(args, 1) + k_at_),
        v_(src<float>(args, 2) + k_at_),
        o_(src<float>(args, 3) + q_at_),
        lse_(src<float>(args, 4) + head * settings.sizes.queries),
        d_o_(src<float>(args, 5) + q_at_),
        mask_(settings.has_mask ? src<int32_t>(args, 6) + head / settings.sizes.heads * settings.sizes.keys : nullptr),
        dropout_(settings.draw(args)),
        d_q_(dst<float>(args, 0) + q_at_),
        d_k_(dst<float>(args, 1) + k_at_),
        d_v_(dst<float>(args, 2) + k_at_) {}

  void run(ScoreTile& tile) const {
    zero_rows(d_q_, settings_.sizes.queries);
    zero_rows(d_k_, settings_.sizes.keys);
    zero_rows(d_v_, settings_.sizes.keys);
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
      std::memset(rows + i * stride_, 0, static_cast<size_t>(settings_.sizes.head_size) * sizeof(float));
  }

  /// dst[m,n] = a · bᵀ over the head's size.
  void make_scores(const ScoreTile& tile, const float* a, const float* b, int64_t m, int64_t n, float* dst) const {
    multiply({.m = m,
              .n = n,
              .k = settings_.sizes.head_size,
              .a = {a, stride_},
              .b = {b, stride_, true},
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
      const ScoreRow row{.o = o_ + t * stride_,
                         .d_o = d_o_ + t * stride_,
                         .head_size = settings_.sizes.head_size,
                         .lse = lse_[t],
                         .scale = settings_.scale,
                         .mask = mask_ == nullptr ? nullptr : mask_ + keys.begin,
                         .seen = seen,
                         .keys = keys.size(),
                         .factors = dropout_ ? make_factors(tile, t, keys.begin, seen) : nullptr};
      const int64_t at = (t - queries.begin) * tile.stride;
      HWY_DYNAMIC_DISPATCH(make_row)(row, tile.p + at, tile.d_score + at);
    }
  }

  /// dst[m,head_size] += scores · rows
  void add_product(const ScoreTile& tile, const Matrix& scores, const float* rows, int64_t m, int64_t k,
                   float* dst) const {
    multiply({.m = m,
              .n = settings_.sizes.head_size,
              .k = k,
              .a = scores,
              .b = {rows, stride_},
              .dst = dst,
              .stride = stride_,
              .accumulate = true,
              .room = tile.product_room});
  }

  void add_tile(ScoreTile& tile, Range queries, Range keys) const {
    const int64_t q_at = queries.begin * stride_;
    const int64_t k_at = keys.begin * stride_;
    make_scores(tile, q_ + q_at, k_ + k_at, queries.size(), keys.size(), tile.p);
    make_scores(tile, d_o_ + q_at, v_ + k_at, queries.size(), keys.size(), tile.d_score);
    make_rows(tile, queries, keys);
    add_product(tile, {tile.p, tile.stride, true}, d_o_ + q_at, keys.size(), queries.size(), d_v_ + k_at);
    add_product(tile, {tile.d_score, tile.stride, true}, q_ + q_at, keys.size(), queries.size(), d_k_ + k_at);
    add_product(tile, {tile.d_score, tile.stride}, k_ + k_at, queries.size(), keys.size(), d_q_ + q_at);
  }

  const AttentionSettings& settings_;
  int64_t head_;
  int64_t stride_;
  int64_t q_at_;
  int64_t k_at_;
  const float* q_;
  const float* k_;
  const float* v_;
  const float* o_;
  const float* lse_;
  const float* d_o_;
  const int32_t* mask_;
  std::optional<DropoutDraw> dropout_;
  float* d_q_;
  float* d_k_;
  float* d_v_;
};

Result<std::unique_ptr<Kernel>> prepare_attention_grad(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {6, 7, 8, 9}));
  const AttentionSettings settings(kernel, 6);
  const ops::AttentionSizes& sizes = settings.sizes;
  const Cut cut = cut_evenly(sizes.batch * sizes.heads);
  const int64_t numel = tile_numel(sizes);
  const auto launch = [settings, cut, numel, &pool = context.pool](const LaunchArgs& args) {
    run_in_rooms(pool, cut, numel, args.workspace, [&](Range heads, float* room) {
      RoomCutter cutter(room);
      ScoreTile tile = make_tile(settings.sizes, cutter);
      for (int64_t head = heads.begin; head < heads.end; ++head) HeadGrad(settings, args, head).run(tile);
    });
  };
  return make_kernel(launch, rooms_bytes(cut, numel, context.pool.threads()));
}

}  // namespace

void define_attention_grad(KernelTable& table) { table.add("attention_grad", prepare_attention_grad); }

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
