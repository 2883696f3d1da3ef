// where: one of two tensors, element by element.
#include "ops/broadcast.h"
#include "ops/expect.h"
#include "ops/gradient.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype("where", "condition", call.srcs[0], DType::kBool));
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype("where", "b", call.srcs[2], call.srcs[1].dtype));
  const std::vector<std::string> names{"condition", "a", "b"};
  PLIMSOLL_ASSIGN(const Shape shape, try_broadcast_all("where", names, call.srcs));
  return std::vector<TensorDesc>{{call.srcs[1].dtype, shape, {}}};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
  const Shape& shape = dsts[0].desc.shape;
  const BroadcastIndex condition(srcs[0].desc.shape, shape);
  const BroadcastIndex a(srcs[1].desc.shape, shape);
  const BroadcastIndex b(srcs[2].desc.shape, shape);
  for (int64_t i = 0; i < dsts[0].numel(); ++i) dsts[0][i] = srcs[0][condition(i)] != 0 ? srcs[1][a(i)] : srcs[2][b(i)];
}

void gradient(GradientContext& c) {
  const auto chosen = [&](bool a) {
    const auto zero = c.constant(0, c.dst_desc(0).dtype);
    return a ? c.add("where", {c.src(0), c.d_dst(0), zero}) : c.add("where", {c.src(0), zero, c.d_dst(0)});
  };
  if (c.wants(1)) c.set_d_src(1, c.sum_to(chosen(true), c.src_desc(1).shape));
  if (c.wants(2)) c.set_d_src(2, c.sum_to(chosen(false), c.src_desc(2).shape));
}

/// In place of a only: an f32 result cannot overwrite a condition of one byte an element.
std::vector<Alias> aliases(const OpCall& call) { return in_place_alias(call, 1); }

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](Shape condition, Shape a, Shape b, bool has_gradient = true) {
    SampleSrc chooser{.desc = {DType::kBool, condition, {}}, .low = 0, .high = 2, .is_integer = true};
    out.push_back({.srcs = {chooser, f32_src(a), f32_src(b)}, .has_gradient = has_gradient});
  };
  add({}, {}, {});
  add({1}, {1}, {1});
  add({7}, {7}, {7});
  add({17}, {17}, {});
  add({3, 5}, {}, {3, 5});
  add({5}, {3, 5}, {3, 1});
  add({2, 1, 4}, {3, 1}, {1});
  add({3, 1}, {}, {});
  add({1025}, {1025}, {1025}, false);
  add({17, 1}, {1025}, {17, 1025}, false);
  add({0}, {0}, {1}, false);
  const SampleSrc chooser{.desc = {DType::kBool, {17}, {}}, .low = 0, .high = 2, .is_integer = true};
  out.push_back({.srcs = {chooser, i32_src({17}, -9, 9), i32_src({}, -9, 9)}, .has_gradient = false});
  return out;
}

}  // namespace

void define_where(OpTable& table) {
  table.add({.name = "where",
             .doc = "dst = a where condition holds, else b; extents broadcast",
             .srcs = {"condition", "a", "b"},
             .dsts = {"dst"},
             .infer = infer,
             .gradient = gradient,
             .aliases = aliases,
             .chunkable = broadcast_chunks,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
