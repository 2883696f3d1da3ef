// dropout: zeroes a random share of the elements and scales up the rest.
#include "ops/elementwise/dropout_mask.h"
#include "ops/expect.h"
#include "ops/gradient.h"
#include "ops/op_table.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc scalar{DType::kI64, {}, {}};
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype("dropout", "x", call.srcs[0], DType::kF32));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("dropout", "seed", call.srcs[1], scalar));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("dropout", "step", call.srcs[2], scalar));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("dropout", "microbatch", call.srcs[3], scalar));
  const double p = call.attributes.get_float("p");
  if (!(p >= 0 && p < 1))
    return invalid_argument("[dropout] p is " + to_string(Attribute(p)) + "; expected 0 <= p < 1");
  return std::vector<TensorDesc>{call.srcs[0]};
}

Cost cost(const OpCall& call) {
  return {.flops = kDropoutFlopsAnElement * call.srcs[0].numel(), .bytes = 2 * call.srcs[0].size_bytes()};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const double p = attributes.get_float("p");
  const auto integer = [&](size_t i) { return static_cast<int64_t>(srcs[i][0]); };
  const DropoutMask mask(integer(1), attributes.get_string("path"), integer(2), p);
  const int64_t first = integer(3) * dsts[0].numel();
  for (int64_t i = 0; i < dsts[0].numel(); ++i)
    dsts[0][i] = mask.keeps(static_cast<uint64_t>(first + i)) ? srcs[0][i] / (1 - p) : 0;
}

void gradient(GradientContext& c) {
  if (c.wants(0)) c.set_d_src(0, c.add("dropout", {c.d_dst(0), c.src(1), c.src(2), c.src(3)}, c.attributes()));
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](const Shape& shape, double p, const std::string& path, double microbatch) {
    out.push_back({.srcs = {f32_src(shape), scalar_src(DType::kI64, 1234), scalar_src(DType::kI64, 3),
                            scalar_src(DType::kI64, microbatch)},
                   .attributes = {{"p", p}, {"path", path}},
                   .has_gradient = shape.numel() < 100});
  };
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{17, 3}, Shape{1025}, Shape{3, 1025}, Shape{0}})
    for (const double microbatch : {0.0, 3.0}) add(shape, 0.25, "block.0.dropout", microbatch);
  add({17}, 0, "", 0);
  add({17}, 0.1, "", 1);
  add({1025}, 0.9, "head", 2);
  // Block 539403 has a word that is p as f32, and below p as f64: kept.
  add({4}, 0.9, "head", 539403);
  return out;
}

}  // namespace

void define_dropout(OpTable& table) {
  table.add({.name = "dropout",
             .doc = "y = x / (1 - p) where the element is kept, else 0 (Srivastava et al., JMLR 2014); the mask comes "
                    "from Philox-4x32-10 (Salmon et al., SC 2011) and is never stored",
             .srcs = {"x", "seed", "step", "microbatch"},
             .dsts = {"y"},
             .attributes = {{.name = "p", .doc = "probability that an element is dropped", .example = 0.1},
                            {.name = "path",
                             .doc = "tells apart the masks of one step",
                             .example = std::string("block.0.dropout")}},
             .infer = infer,
             .gradient = gradient,
             .cost = cost,
             .aliases = [](const OpCall&) { return std::vector<Alias>{{.dst = 0, .src = 0}}; },
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
