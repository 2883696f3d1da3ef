// attention, forward: streaming softmax over tiles of keys.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/attention.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include <cmath>

#include "backends/cpu/attention_forward.h"
#include "backends/cpu/dropout_row.h"
#include "backends/cpu/row_math.h"

#ifndef PLIMSOLL_BACKENDS_CPU_QUERY_TILE
#define PLIMSOLL_BACKENDS_CPU_QUERY_TILE
namespace plimsoll::backends::cpu {

/// Keys of a tile: measured on Zen 3, products of 64 queries with 128 keys run at 89 of 92 GFLOP/s, with 64 at 84.
constexpr int64_t kKeyTile = 128;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// The state of the streaming softmax for the queries [begin, end) of one head.
struct QueryTile {
  Range queries;
  uint64_t first_weight;  ///< as dropout counts them: of the first query and key 0
  float* o;       ///< [queries, head_size]: in rows that follow each other, as it is read for every tile of keys
  float* scores;  ///< in rows of score_stride
  int64_t score_stride;
  float* top;  ///< largest score so far
  float* sum;  ///< Σ e^(score - top)
  float* product_room;
};

}  // namespace plimsoll::backends::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Scores of keys with mask 0 become -inf.
void mask_row(const int32_t* mask, float* scores, int64_t n) {
  for (int64_t i = 0; i < n; ++i) scores[i] = mask[i] != 0 ? scores[i] : kMinusInfinity;
}

/// Turns the scores of `keys` into e^(score - top), with o and sum rescaled to the top that these keys give; sum is
/// that of all keys, dropped or not. Without a visible key so far top is -inf, and sum and o stay 0.
void absorb_keys(const AttentionForward& a, QueryTile& tile, const int32_t* mask, Range keys) {
  for (int64_t row = 0; row < tile.queries.size(); ++row) {
    float* scores = tile.scores + row * tile.score_stride;
    const int64_t seen = a.seen(tile.queries.begin + row);
    const int64_t n = std::clamp<int64_t>(seen - keys.begin, 0, keys.size());
    scale_row(scores, scores, n, a.scale);
    if (mask != nullptr) mask_row(mask + keys.begin, scores, n);
    const float old_top = tile.top[row];
    const float top = std::max(old_top, row_max(scores, n));
    const float shift = top == kMinusInfinity ? 0 : top;
    const float sum = exp_row(scores, scores, n, shift);
    if (a.dropout)
      drop_row(*a.dropout, tile.first_weight + static_cast<uint64_t>(row * a.sizes.keys + keys.begin), scores, scores,
               n);
    std::memset(scores + n, 0, static_cast<size_t>(keys.size() - n) * sizeof(float));
    if (top != old_top && keys.begin > 0) {
      const float factor = std::exp(old_top - shift);
      tile.sum[row] *= factor;
      float* o = tile.o + row * a.sizes.head_size;
      scale_row(o, o, a.sizes.head_size, factor);
    }
    tile.top[row] = top;
    tile.sum[row] += sum;
  }
}

/// Divides by the sums; lse = top + log(sum).
void finish_queries(const AttentionForward& a, const QueryTile& tile, float* dst, float* lse) {
  for (int64_t row = 0; row < tile.queries.size(); ++row) {
    const bool sees_nothing = tile.top[row] == kMinusInfinity && tile.sum[row] == 0;
    scale_row(tile.o + row * a.sizes.head_size, dst + row * a.row_stride(), a.sizes.head_size,
              sees_nothing ? 0 : 1 / tile.sum[row]);
    if (lse != nullptr) lse[row] = sees_nothing ? kMinusInfinity : tile.top[row] + std::log(tile.sum[row]);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/kernel_table.h"
#include "backends/cpu/product.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(absorb_keys);
HWY_EXPORT(finish_queries);

/// A tile as large as these sizes need.
QueryTile make_tile(const ops::AttentionSizes& sizes, RoomCutter& room) {
  const int64_t queries = std::min(kQueryTile, sizes.queries);
  const int64_t keys = std::min(kKeyTile, sizes.keys);
  QueryTile tile{};
  tile.score_stride = whole_lines(keys);
  tile.scores = room.take(queries * tile.score_stride);
  tile.top = room.take(queries);
  tile.sum = room.take(queries);
  tile.o = room.take(queries * sizes.head_size);
  tile.product_room = room.take(product_room_numel(queries, std::max(keys, sizes.head_size)));
  return tile;
}

int64_t tile_numel(const ops::AttentionSizes& sizes) {
  RoomCutter counter(nullptr);
  make_tile(sizes, counter);
  return counter.taken();
}

/// The units of work of `attend`.
Cut cut_queries(const ops::AttentionSizes& sizes) {
  return cut_evenly(sizes.batch * sizes.heads * Cut(sizes.queries, kQueryTile).tasks());
}

void start_queries(const AttentionForward& a, QueryTile& tile) {
  std::fill_n(tile.top, tile.queries.size(), kMinusInfinity);
  std::fill_n(tile.sum, tile.queries.size(), 0.0f);
  std::fill_n(tile.o, tile.queries.size() * a.sizes.head_size, 0.0f);
}

void attend_unit(const AttentionForward& a, int64_t unit, QueryTile& tile) {
  const Cut cut(a.sizes.queries, kQueryTile);
  const int64_t head = unit / cut.tasks();
  const int64_t b = head / a.sizes.heads;
  const int64_t h = head % a.sizes.heads;
  tile.queries = cut[unit % cut.tasks()];
  if (a.dropout)
    tile.first_weight = a.dropout->first + static_cast<uint64_t>(a.sizes.weight_at(b, tile.queries.begin, h, 0));
  const int64_t at = a.sizes.q_at(b, tile.queries.begin, h);
  start_queries(a, tile);

  const int32_t* mask = a.mask == nullptr ? nullptr : a.mask + b * a.sizes.keys;
  const int64_t rows = tile.queries.size();
  const int64_t size = a.sizes.head_size;
  const int64_t stride = a.src_row_stride();
  const int64_t q_at = (b * a.sizes.queries + tile.queries.begin) * stride + h * size;
  const Cut key_cut(a.seen(tile.queries.end - 1), kKeyTile);
  for (int64_t key_task = 0; key_task < key_cut.tasks(); ++key_task) {
    const Range keys = key_cut[key_task];
    const int64_t key_at = (b * a.sizes.keys + keys.begin) * stride + h * size;
    multiply({.m = rows,
              .n = keys.size(),
              .k = size,
              .a = {a.q + q_at, stride},
              .b = {a.k + key_at, stride, true},
              .dst = tile.scores,
              .stride = tile.score_stride,
              .room = tile.product_room});
    HWY_DYNAMIC_DISPATCH(absorb_keys)(a, tile, mask, keys);
    multiply({.m = rows,
              .n = size,
              .k = keys.size(),
              .a = {tile.scores, tile.score_stride},
              .b = {a.v + key_at, stride},
              .dst = tile.o,
              .stride = size,
              .accumulate = true,
              .room = tile.product_room});
  }
  float* lse = a.lse == nullptr ? nullptr : a.lse + a.sizes.lse_at(b, tile.queries.begin, h);
  HWY_DYNAMIC_DISPATCH(finish_queries)(a, tile, a.o + at, lse);
}

}  // namespace

void attend(const AttentionForward& a, ThreadPool& pool, void* workspace) {
  run_in_rooms(pool, cut_queries(a.sizes), tile_numel(a.sizes), workspace, [&](Range units, float* room) {
    RoomCutter cutter(room);
    QueryTile tile = make_tile(a.sizes, cutter);
    for (int64_t unit = units.begin; unit < units.end; ++unit) attend_unit(a, unit, tile);
  });
}

int64_t attend_bytes(const ops::AttentionSizes& sizes, int threads) {
  return rooms_bytes(cut_queries(sizes), tile_numel(sizes), threads);
}

namespace {

/// Where q, k and v are among the sources of a launch.
struct QkvPointers {
  const float* q;
  const float* k;
  const float* v;
};

template <class Find>
std::unique_ptr<Kernel> make_attention(const AttentionSettings& settings, size_t required, ThreadPool& pool,
                                       const Find& find) {
  const auto launch = [settings, required, find, &pool](const LaunchArgs& args) {
    const QkvPointers qkv = find(args);
    attend({.sizes = settings.sizes,
            .offset = attention_offset(settings.sizes, settings.causal),
            .scale = settings.scale,
            .q = qkv.q,
            .k = qkv.k,
            .v = qkv.v,
            .src_stride = settings.src_stride,
            .mask = settings.has_mask ? src<int32_t>(args, required) : nullptr,
            .o = dst<float>(args, 0),
            .lse = dst<float>(args, 1),
            .dropout = settings.draw(args)},
           pool, args.workspace);
  };
  return make_kernel(launch, attend_bytes(settings.sizes, pool.threads()));
}

Result<std::unique_ptr<Kernel>> prepare_attention(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {3, 4, 5, 6}));
  const AttentionSettings settings(kernel, 3, ops::attention_sizes(kernel.srcs[0].shape, kernel.srcs[1].shape));
  return make_attention(settings, 3, context.pool, [](const LaunchArgs& args) {
    return QkvPointers{src<float>(args, 0), src<float>(args, 1), src<float>(args, 2)};
  });
}

Result<std::unique_ptr<Kernel>> prepare_packed(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {1, 2, 3, 4}));
  const AttentionSettings settings = packed_attention_settings(kernel, 1);
  const int64_t width = settings.src_stride / 3;
  return make_attention(settings, 1, context.pool, [width](const LaunchArgs& args) {
    const float* qkv = src<float>(args, 0);
    return QkvPointers{qkv, qkv + width, qkv + 2 * width};
  });
}

}  // namespace

void define_attention(KernelTable& table) {
  table.add("attention", prepare_attention);
  table.add("attention_packed", prepare_packed);
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
