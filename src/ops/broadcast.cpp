#include "ops/broadcast.h"

#include "ops/op_table.h"

namespace plimsoll::ops {

BroadcastIndex::BroadcastIndex(const Shape& operand, const Shape& result)
    : result_(result), is_identity_(operand == result) {
  const auto shift = static_cast<size_t>(result.rank() - operand.rank());
  int64_t stride = 1;
  for (int axis = operand.rank() - 1; axis >= 0; --axis) {
    strides_[static_cast<size_t>(axis) + shift] = operand[axis] == 1 ? 0 : stride;
    stride *= operand[axis];
  }
}

Result<Shape> try_broadcast_all(const std::string& op, std::span<const std::string> names,
                                std::span<const TensorDesc> srcs) {
  Shape out;
  for (const TensorDesc& src : srcs) {
    if (const auto next = try_broadcast(out, src.shape)) {
      out = *next;
      continue;
    }
    std::string given;
    for (size_t i = 0; i < srcs.size(); ++i)
      given += (i > 0 ? ", " : "") + names[std::min(i, names.size() - 1)] + " " + to_string(srcs[i]);
    return invalid_argument("[" + op + "] " + given +
                            " do not broadcast; expected extents that are equal or 1, counted from the last axis");
  }
  return out;
}

std::vector<ChunkableAxis> broadcast_chunks(const OpCall& call) {
  const Shape& result = call.dsts[0].shape;
  std::vector<ChunkableAxis> out;
  for (int axis = 0; axis < result.rank(); ++axis) {
    ChunkableAxis chunk{.dst_axis = axis};
    for (const TensorDesc& src : call.srcs) {
      const int own = axis - (result.rank() - src.shape.rank());
      chunk.src_axes.push_back(own < 0 || src.shape[own] != result[axis] ? -1 : own);
    }
    out.push_back(std::move(chunk));
  }
  return out;
}

Cost elementwise_cost(const OpCall& call, int64_t flops_per_element) {
  return {.flops = flops_per_element * call.dsts[0].numel(), .bytes = moved_bytes(call)};
}

std::vector<Alias> in_place_alias(const OpCall& call, int src) {
  const TensorDesc& operand = call.srcs[static_cast<size_t>(src)];
  if (operand.shape != call.dsts[0].shape || operand.size_bytes() != call.dsts[0].size_bytes()) return {};
  return {{.dst = 0, .src = src}};
}

}  // namespace plimsoll::ops
