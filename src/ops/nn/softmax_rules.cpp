#include "ops/nn/softmax_rules.h"

#include "ops/expect.h"
#include "ops/gradient.h"
#include "ops/infer_rules.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const std::string& op, const std::string& src, const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype(op, src, call.srcs[0], DType::kF32));
  PLIMSOLL_RETURN_IF_ERROR(try_axis(op, call.attributes.get_int("axis"), src, call.srcs[0]));
  if (call.srcs.size() == 2) PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "d_y", call.srcs[1], call.srcs[0]));
  return std::vector<TensorDesc>{call.srcs[0]};
}

Cost cost(const OpCall& call) {
  const int64_t moves = static_cast<int64_t>(call.srcs.size()) + 1;
  return {.flops = 5 * call.srcs[0].numel(), .bytes = moves * call.srcs[0].size_bytes()};
}

/// Lines along the axis know nothing of each other.
std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  const int rank = call.srcs[0].shape.rank();
  const int taken = axis_of(call.srcs[0].shape, call.attributes);
  std::vector<ChunkableAxis> out;
  for (int axis = 0; axis < rank; ++axis)
    if (axis != taken) out.push_back({.dst_axis = axis, .src_axes = std::vector<int>(call.srcs.size(), axis)});
  return out;
}

void evaluate(const LineFunction& function, std::span<const Array> srcs, std::span<Array> dsts,
              const Attributes& attributes) {
  const Shape& shape = dsts[0].desc.shape;
  const AxisSpan span = make_axis_span(shape, axis_of(shape, attributes));
  std::vector<std::vector<double>> lines(srcs.size(), std::vector<double>(static_cast<size_t>(span.extent)));
  std::vector<double> result(static_cast<size_t>(span.extent));
  for (int64_t line = 0; line < span.outer * span.inner && span.extent > 0; ++line) {
    const int64_t first = line / span.inner * span.extent * span.inner + line % span.inner;
    for (size_t i = 0; i < srcs.size(); ++i)
      for (int64_t k = 0; k < span.extent; ++k) lines[i][static_cast<size_t>(k)] = srcs[i][first + k * span.inner];
    function(lines, result);
    for (int64_t k = 0; k < span.extent; ++k) dsts[0][first + k * span.inner] = result[static_cast<size_t>(k)];
  }
}

std::vector<Sample> make_samples(double low, double high, bool for_grad) {
  std::vector<Sample> out;
  const auto add = [&](const Shape& shape, int64_t axis) {
    Sample sample{
        .srcs = {f32_src(shape, low, high)}, .attributes = {{"axis", axis}}, .has_gradient = shape.numel() < 300};
    if (for_grad) sample.srcs.push_back(f32_src(shape));
    out.push_back(sample);
  };
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{1025}, Shape{0}}) add(shape, -1);
  for (const int64_t axis : {-3, -2, -1, 0, 1, 2}) add({3, 7, 5}, axis);
  for (const Shape& shape : {Shape{7, 1025}, Shape{1025, 17}, Shape{0, 3}, Shape{3, 0}})
    for (const int64_t axis : {0, 1}) add(shape, axis);
  add({2, 3, 2, 17}, -1);
  return out;
}

std::vector<AttributeDef> axis_attribute() { return {{.name = "axis", .default_value = int64_t{-1}}}; }

auto make_gradient(const std::string& grad_op) {
  return [grad_op](GradientContext& c) {
    if (c.wants(0)) c.set_d_src(0, c.add(grad_op, {c.dst(0), c.d_dst(0)}, c.attributes()));
  };
}

auto make_evaluate(LineFunction function) {
  return [function = std::move(function)](std::span<const Array> srcs, std::span<Array> dsts,
                                          const Attributes& attributes) { evaluate(function, srcs, dsts, attributes); };
}

}  // namespace

void define_softmax_variant(OpTable& table, const SoftmaxVariant& variant) {
  const std::string grad_op = variant.name + "_grad";
  table.add({.name = variant.name,
             .doc = variant.doc,
             .srcs = {"x"},
             .dsts = {"y"},
             .attributes = axis_attribute(),
             .infer = [op = variant.name](const OpCall& call) { return infer(op, "x", call); },
             .gradient = make_gradient(grad_op),
             .cost = cost,
             .aliases = [](const OpCall&) { return std::vector<Alias>{{.dst = 0, .src = 0}}; },
             .chunkable = chunkable,
             .evaluate = make_evaluate(variant.forward),
             .samples = [] { return make_samples(-4, 4, false); }});
  table.add({.name = grad_op,
             .doc = variant.grad_doc,
             .srcs = {"y", "d_y"},
             .dsts = {"d_x"},
             .attributes = axis_attribute(),
             .infer = [grad_op](const OpCall& call) { return infer(grad_op, "y", call); },
             .cost = cost,
             .aliases = [](const OpCall&) { return std::vector<Alias>{{.dst = 0, .src = 1}}; },
             .chunkable = chunkable,
             .evaluate = make_evaluate(variant.backward),
             .samples = [low = variant.low_y, high = variant.high_y] { return make_samples(low, high, true); }});
}

}  // namespace plimsoll::ops
