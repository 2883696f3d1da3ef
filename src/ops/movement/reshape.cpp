// reshape: the same elements in the same order under other extents.
#include "ops/gradient.h"
#include "ops/infer_rules.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Error refusal(const std::string& what, const OpCall& call) {
  return invalid_argument("[reshape] shape " + to_string(Attribute{call.attributes.get_ints("shape")}) + " " + what +
                          " for src " + to_string(call.srcs[0]));
}

/// `extents` with the one -1 replaced by what is left of `numel`.
Result<Shape> try_fill_in(std::vector<int64_t> extents, int64_t numel, const OpCall& call) {
  int64_t* open = nullptr;
  for (int64_t& extent : extents) {
    if (extent != -1) continue;
    if (open != nullptr) return refusal("has more than one -1", call);
    open = &extent;
  }
  if (open != nullptr) *open = 1;
  PLIMSOLL_ASSIGN(const Shape shape, try_shape("reshape", extents));
  if (open == nullptr) return shape;
  if (shape.numel() == 0 || numel % shape.numel() != 0) return refusal("leaves no whole size for -1", call);
  *open = numel / shape.numel();
  return try_shape("reshape", extents);
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const int64_t numel = call.srcs[0].numel();
  PLIMSOLL_ASSIGN(const Shape shape, try_fill_in(call.attributes.get_ints("shape"), numel, call));
  if (shape.numel() != numel)
    return refusal("has " + std::to_string(shape.numel()) + " elements; expected " + std::to_string(numel), call);
  return std::vector<TensorDesc>{{call.srcs[0].dtype, shape, {}}};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) { dsts[0].data = srcs[0].data; }

void gradient(GradientContext& c) {
  c.set_d_src(0, c.add("reshape", {c.d_dst(0)}, {{"shape", to_ints(c.src_desc(0).shape)}}));
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](Shape from, std::vector<int64_t> to, DType dtype = DType::kF32) {
    out.push_back(sample_of({.desc = {dtype, from, {}}, .low = 0, .high = 9, .is_integer = !is_floating(dtype)},
                            {{"shape", std::move(to)}}));
  };
  add({3, 4}, {12});
  add({2, 3, 4}, {4, -1});
  add({7}, {-1, 1});
  add({1}, {});
  add({}, {1, 1});
  add({17}, {17, 1});
  add({1025}, {5, -1, 41});
  add({0, 3}, {3, 0});
  add({0, 3}, {-1, 3});
  add({2, 3}, {6}, DType::kI32);
  return out;
}

}  // namespace

void define_reshape(OpTable& table) {
  table.add({.name = "reshape",
             .doc = "the same elements under other extents; one of them may be -1: what is left",
             .srcs = {"src"},
             .dsts = {"dst"},
             .attributes = {{.name = "shape", .example = std::vector<int64_t>{2, 3}}},
             .infer = infer,
             .gradient = gradient,
             .aliases = [](const OpCall&) { return std::vector<Alias>{{.kind = Alias::Kind::kView}}; },
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
