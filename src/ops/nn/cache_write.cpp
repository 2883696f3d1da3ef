// cache_write: puts fresh rows into a key/value cache, in place.
#include "ops/expect.h"
#include "ops/op_table.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc &cache = call.srcs[0], &fresh = call.srcs[1];
  PLIMSOLL_RETURN_IF_ERROR(expect_axes("cache_write", "cache", cache, DType::kF32, 4, "[B,S,H,D]"));
  PLIMSOLL_RETURN_IF_ERROR(expect_axes("cache_write", "fresh", fresh, DType::kF32, 4, "[B,T,H,D]"));
  const Shape expected{cache.shape[0], fresh.shape[1], cache.shape[2], cache.shape[3]};
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("cache_write", "fresh", fresh, {DType::kF32, expected, {}}));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("cache_write", "position", call.srcs[2], {DType::kI64, {}, {}}));
  return std::vector<TensorDesc>{cache};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
  const Shape &cache = dsts[0].desc.shape, &fresh = srcs[1].desc.shape;
  const int64_t width = cache[2] * cache[3];
  const auto position = static_cast<int64_t>(srcs[2][0]);
  dsts[0].data = srcs[0].data;
  for (int64_t b = 0; b < cache[0]; ++b)
    for (int64_t t = 0; t < fresh[1]; ++t) {
      const int64_t row = position + t;
      for (int64_t i = 0; i < width && row >= 0 && row < cache[1]; ++i)
        dsts[0][(b * cache[1] + row) * width + i] = srcs[1][(b * fresh[1] + t) * width + i];
    }
}

std::vector<ChunkableAxis> chunkable(const OpCall&) {
  return {{.dst_axis = 0, .src_axes = {0, 0, -1}},
          {.dst_axis = 2, .src_axes = {2, 2, -1}},
          {.dst_axis = 3, .src_axes = {3, 3, -1}}};
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](const Shape& cache, int64_t rows, double position) {
    out.push_back(
        {.srcs = {f32_src(cache), f32_src({cache[0], rows, cache[2], cache[3]}), scalar_src(DType::kI64, position)}});
  };
  for (const double position : {0.0, 4.0, 16.0}) add({2, 17, 3, 5}, 1, position);
  add({2, 17, 3, 5}, 7, 0);
  add({2, 17, 3, 5}, 7, 10);
  add({2, 17, 3, 5}, 7, 14);  // past the end: nothing is written there
  add({1, 1, 1, 1}, 1, 0);
  add({1, 1025, 1, 17}, 7, 1000);
  add({2, 5, 1, 4}, 0, 2);
  add({0, 5, 1, 4}, 1, 2);
  return out;
}

}  // namespace

void define_cache_write(OpTable& table) {
  table.add(
      {.name = "cache_write",
       .doc = "The cache with rows position … position + T - 1 replaced by fresh; rows past its end are left out",
       .srcs = {"cache", "fresh", "position"},
       .dsts = {"cache"},
       .infer = infer,
       // Written in place: only fresh rows move.
       .cost = [](const OpCall& call) { return Cost{.bytes = 2 * call.srcs[1].size_bytes()}; },
       .aliases = [](const OpCall&) { return std::vector<Alias>{{.dst = 0, .src = 0, .kind = Alias::Kind::kUpdate}}; },
       .chunkable = chunkable,
       .evaluate = evaluate,
       .samples = samples});
}

}  // namespace plimsoll::ops
