// attention_packed: attention on queries, keys and values as one projection leaves them, side by side in each row; and
// its gradient, laid out alike. Nothing is copied apart or together.
#include "ops/expect.h"
#include "ops/gradient.h"
#include "ops/nn/attention.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

constexpr size_t kParts = 3;  // q, k and v

/// The operands as attention has them: q, k, v in place of the first source.
template <class T>
std::vector<T> unpacked(std::span<const T> srcs, const T& part) {
  std::vector<T> out(kParts, part);
  out.insert(out.end(), srcs.begin() + 1, srcs.end());
  return out;
}

TensorDesc part_desc(const TensorDesc& qkv, const Attributes& attributes) {
  const int64_t heads = attributes.get_int("heads");
  const auto parts = static_cast<int64_t>(kParts);
  return {qkv.dtype, {qkv.shape[0], qkv.shape[1], heads, qkv.shape[2] / parts / heads}, {}};
}

Status check_packed(const std::string& op, const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(expect_axes(op, "qkv", call.srcs[0], DType::kF32, 3, "[B,T,3·H·D]"));
  const int64_t heads = call.attributes.get_int("heads");
  const int64_t width = call.srcs[0].shape[2];
  if (heads >= 1 && heads <= width && width % (static_cast<int64_t>(kParts) * heads) == 0) return {};
  return invalid_argument("[" + op + "] qkv is " + to_string(call.srcs[0]) + " with " + std::to_string(heads) +
                          " heads; expected a last axis of 3 · heads · head size");
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_packed("attention_packed", call));
  const auto srcs = unpacked(call.srcs, part_desc(call.srcs[0], call.attributes));
  return in_the_name_of("attention_packed", attention_def().infer({srcs, {}, call.attributes}));
}

Result<std::vector<TensorDesc>> infer_grad(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_packed("attention_packed_grad", call));
  const auto srcs = unpacked(call.srcs, part_desc(call.srcs[0], call.attributes));
  PLIMSOLL_RETURN_IF_ERROR(
      in_the_name_of("attention_packed_grad", attention_grad_def().infer({srcs, {}, call.attributes})));
  return std::vector<TensorDesc>{{DType::kF32, call.srcs[0].shape, {}}};
}

Cost cost(const OpCall& call, const OpDef& def) {
  const auto srcs = unpacked(call.srcs, part_desc(call.srcs[0], call.attributes));
  return {.flops = def.cost({srcs, call.dsts, call.attributes}).flops, .bytes = moved_bytes(call)};
}

int64_t workspace_bound(const OpCall& call, const OpDef& def) {
  const auto srcs = unpacked(call.srcs, part_desc(call.srcs[0], call.attributes));
  return def.workspace_bound({srcs, call.dsts, call.attributes});
}

/// Calls f(packed, i, part) with the places of element i of part `part` in both.
template <class F>
void for_each_place(const TensorDesc& part, const F& f) {
  const int64_t width = part.shape[2] * part.shape[3];
  for (size_t which = 0; which < kParts; ++which)
    for (int64_t i = 0; i < part.numel(); ++i)
      f(i / width * static_cast<int64_t>(kParts) * width + static_cast<int64_t>(which) * width + i % width, i, which);
}

std::vector<Array> unpack(std::span<const Array> srcs, const Attributes& attributes) {
  const TensorDesc part = part_desc(srcs[0].desc, attributes);
  std::vector<Array> out = unpacked(srcs, Array(part));
  for_each_place(part, [&](int64_t packed, int64_t i, size_t which) { out[which][i] = srcs[0][packed]; });
  return out;
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  attention_def().evaluate(unpack(srcs, attributes), dsts, attributes);
}

void evaluate_grad(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const TensorDesc part = part_desc(srcs[0].desc, attributes);
  std::vector<Array> parts(kParts, Array(part));
  attention_grad_def().evaluate(unpack(srcs, attributes), parts, attributes);
  for_each_place(part, [&](int64_t packed, int64_t i, size_t which) { dsts[0][packed] = parts[which][i]; });
}

void gradient(GradientContext& c) {
  std::vector<graph::ValueId> srcs{c.src(0), c.dst(0), c.dst(1), c.d_dst(0)};
  for (size_t i = 1; i < c.src_count(); ++i) srcs.push_back(c.src(i));
  c.set_d_src(0, c.add("attention_packed_grad", srcs, c.attributes()));
}

/// The samples of attention in which queries and keys are as many.
std::vector<Sample> samples(const OpDef& def) {
  std::vector<Sample> out;
  for (Sample& sample : def.samples()) {
    const Shape q = sample.srcs[0].desc.shape;
    if (q != sample.srcs[1].desc.shape) continue;
    sample.srcs[0].desc.shape = {q[0], q[1], static_cast<int64_t>(kParts) * q[2] * q[3]};
    sample.srcs.erase(sample.srcs.begin() + 1, sample.srcs.begin() + kParts);
    sample.attributes.set("heads", q[2]);
    out.push_back(std::move(sample));
  }
  return out;
}

/// The rules of attention, or of its gradient, with a packed source in place of three.
OpDef packed(const OpDef& def) {
  OpDef out;
  out.srcs = {"qkv"};
  out.srcs.insert(out.srcs.end(), def.srcs.begin() + kParts, def.srcs.end());
  out.optional_srcs = def.optional_srcs;
  out.attributes = def.attributes;
  out.attributes.push_back({.name = "heads", .doc = "of queries, keys and values alike", .example = int64_t{1}});
  out.cost = [&def](const OpCall& call) { return cost(call, def); };
  out.workspace_bound = [&def](const OpCall& call) { return workspace_bound(call, def); };
  out.samples = [&def] { return samples(def); };
  return out;
}

}  // namespace

void define_attention_packed(OpTable& table) {
  OpDef forward = packed(attention_def());
  forward.name = "attention_packed";
  forward.doc =
      "attention whose q, k and v stand side by side in the rows of one tensor [B,T,3·H·D]. What "
      "`fuse_attention_layout` makes";
  forward.dsts = attention_def().dsts;
  forward.saved_dsts = attention_def().saved_dsts;
  forward.infer = infer;
  forward.gradient = gradient;
  forward.evaluate = evaluate;
  table.add(std::move(forward));
  OpDef grad = packed(attention_grad_def());
  grad.name = "attention_packed_grad";
  grad.doc = "Gradient of attention_packed, laid out like its input";
  grad.dsts = {"d_qkv"};
  grad.infer = infer_grad;
  grad.evaluate = evaluate_grad;
  table.add(std::move(grad));
}

}  // namespace plimsoll::ops
