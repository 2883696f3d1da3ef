// expand: repeats extents of 1, and adds leading axes.
#include "ops/broadcast.h"
#include "ops/gradient.h"
#include "ops/infer_rules.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_ASSIGN(const Shape shape, try_shape("expand", call.attributes.get_ints("shape")));
  const auto broadcast = try_broadcast(call.srcs[0].shape, shape);
  if (!broadcast || *broadcast != shape)
    return invalid_argument("[expand] src is " + to_string(call.srcs[0]) + " and shape " + to_string(shape) +
                            "; expected each extent of src to be that of shape or 1, counted from the last axis");
  return std::vector<TensorDesc>{{call.srcs[0].dtype, shape, {}}};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
  const BroadcastIndex source(srcs[0].desc.shape, dsts[0].desc.shape);
  for (int64_t i = 0; i < dsts[0].numel(); ++i) dsts[0][i] = srcs[0][source(i)];
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](Shape from, std::vector<int64_t> to, bool has_gradient = true) {
    out.push_back({.srcs = {{.desc = {DType::kF32, from, {}}}},
                   .attributes = {{"shape", std::move(to)}},
                   .has_gradient = has_gradient});
  };
  add({}, {2, 3});
  add({1}, {7});
  add({7}, {7});
  add({7}, {3, 7});
  add({3, 1}, {3, 17});
  add({2, 1, 3}, {4, 2, 5, 3});
  add({1025}, {17, 1025}, false);
  add({1025, 1}, {1025, 7}, false);
  add({1}, {0}, false);
  add({0, 1}, {0, 3}, false);
  return out;
}

}  // namespace

void define_expand(OpTable& table) {
  table.add({.name = "expand",
             .doc = "dst = src broadcast to shape",
             .srcs = {"src"},
             .dsts = {"dst"},
             .attributes = {{.name = "shape", .example = std::vector<int64_t>{2, 3}}},
             .infer = infer,
             .gradient = [](GradientContext& c) { c.set_d_src(0, c.sum_to(c.d_dst(0), c.src_desc(0).shape)); },
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
