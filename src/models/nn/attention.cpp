#include "models/nn/attention.h"

namespace plimsoll::models::nn {
namespace {

ValueId merge_heads(ModelBuilder& b, ValueId o) {
  if (!b.status().ok()) return {};
  const Shape shape = b.desc(o).shape;
  return reshape(b, o, {shape[0], shape[1], shape[2] * shape[3]});
}

/// The state after this step's rows were written to it.
ValueId updated_cache(ModelBuilder& b, const std::string& name, ValueId fresh, int64_t context) {
  if (!b.status().ok()) return {};
  TensorDesc desc = b.desc(fresh);
  desc.shape[1] = context;
  const ValueId cache = b.state(name, desc);
  const ValueId next =
      b.add("cache_write", {cache, fresh, b.scalar("position", DType::kI64)}, {}, {.name = name + ".write"});
  if (b.status().ok()) b.target().add_update(cache, next);
  return next;
}

}  // namespace

Heads view_as_heads(ModelBuilder& b, ValueId q, ValueId k, ValueId v, int64_t heads) {
  if (!b.status().ok()) return {};
  const Shape shape = b.desc(q).shape;
  const std::vector<int64_t> by_head{shape[0], shape[1], heads, shape[2] / heads};
  return {reshape(b, q, by_head), reshape(b, k, by_head), reshape(b, v, by_head)};
}

Heads split_heads(ModelBuilder& b, ValueId qkv, int64_t heads) {
  if (!b.status().ok()) return {};
  const int64_t width = b.desc(qkv).shape.at(-1) / 3;
  const auto parts = b.add_all("split", {qkv}, {{"axis", int64_t{-1}}, {"sizes", std::vector<int64_t>(3, width)}}, 3);
  return view_as_heads(b, parts[0], parts[1], parts[2], heads);
}

ValueId attend(ModelBuilder& b, const Heads& heads, const AttendOptions& options) {
  std::vector<ValueId> srcs{heads.q, heads.k, heads.v};
  if (options.mask.is_valid()) srcs.push_back(options.mask);
  Attributes attributes{{"causal", options.is_causal}};
  if (options.dropout != 0) {
    for (const char* scalar : {"seed", "step", "microbatch"}) srcs.push_back(b.scalar(scalar, DType::kI64));
    attributes.set("dropout", options.dropout);
    attributes.set("path", b.target().unique_node_name(b.path("attention"), 2));
  }
  return merge_heads(b, b.add("attention", srcs, attributes));
}

ValueId attend_cached(ModelBuilder& b, const Heads& heads, int64_t context) {
  const ValueId k = updated_cache(b, "k_cache", heads.k, context);
  const ValueId v = updated_cache(b, "v_cache", heads.v, context);
  return merge_heads(b, b.add("cached_attention", {heads.q, k, v, b.scalar("position", DType::kI64)}));
}

}  // namespace plimsoll::models::nn
