// global_norm: the Euclidean norm of all gradients together, and the factor that clips them.
#include "ops/reduction/global_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/expect.h"
#include "ops/op_table.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc number{DType::kF32, {}, {}};
  for (size_t i = 0; i < call.srcs.size(); ++i)
    PLIMSOLL_RETURN_IF_ERROR(expect_desc("global_norm", "sums[" + std::to_string(i) + "]", call.srcs[i], number));
  const double max_norm = call.attributes.get_float("max_norm");
  if (!(max_norm > 0))
    return invalid_argument("[global_norm] max_norm is " + to_string(Attribute{max_norm}) + "; expected max_norm > 0");
  return std::vector<TensorDesc>{number, number};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  double sum = 0;
  for (const Array& src : srcs) sum += src[0];
  dsts[0][0] = std::sqrt(sum);
  dsts[1][0] = std::min(1.0, attributes.get_float("max_norm") / (dsts[0][0] + kNormFloor));
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const double max_norm : {std::numeric_limits<double>::infinity(), 1.0, 0.25})
    for (const int count : {1, 2, 7, 17})
      out.push_back({.srcs = std::vector<SampleSrc>(static_cast<size_t>(count), f32_src({}, 0, 2)),
                     .attributes = {{"max_norm", max_norm}},
                     .has_gradient = false});
  out.push_back({.srcs = {scalar_src(DType::kF32, 0)}, .attributes = {{"max_norm", 1.0}}, .has_gradient = false});
  return out;
}

}  // namespace

void define_global_norm(OpTable& table) {
  table.add({.name = "global_norm",
             .doc = "norm = √(Σ sums), scale = min(1, max_norm / (norm + 1e-6))",
             .srcs = {"sums"},
             .dsts = {"norm", "scale"},
             .is_variadic = true,
             .attributes = {{.name = "max_norm", .default_value = std::numeric_limits<double>::infinity()}},
             .infer = infer,
             .cost =
                 [](const OpCall& call) {
                   const auto count = static_cast<int64_t>(call.srcs.size());
                   return Cost{.flops = count + 4, .bytes = (count + 2) * call.dsts[0].size_bytes()};
                 },
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
