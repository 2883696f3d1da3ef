// compare: whether a relation holds, element by element, between two tensors that broadcast.
#include "ops/broadcast.h"
#include "ops/elementwise/binary.h"
#include "ops/expect.h"

namespace plimsoll::ops {
namespace {

const std::vector<std::string> kDirections{"eq", "ne", "lt", "le", "gt", "ge"};

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype("compare", "b", call.srcs[1], call.srcs[0].dtype));
  const std::vector<std::string> names{"a", "b"};
  PLIMSOLL_ASSIGN(const Shape shape, try_broadcast_all("compare", names, call.srcs));
  return std::vector<TensorDesc>{{DType::kBool, shape, {}}};
}

bool holds(const std::string& direction, double a, double b) {
  if (direction == "eq") return a == b;
  if (direction == "ne") return a != b;
  if (direction == "lt") return a < b;
  if (direction == "le") return a <= b;
  if (direction == "gt") return a > b;
  return a >= b;
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const BroadcastIndex a(srcs[0].desc.shape, dsts[0].desc.shape);
  const BroadcastIndex b(srcs[1].desc.shape, dsts[0].desc.shape);
  const std::string& direction = attributes.get_string("direction");
  for (int64_t i = 0; i < dsts[0].numel(); ++i) dsts[0][i] = holds(direction, srcs[0][a(i)], srcs[1][b(i)]) ? 1 : 0;
}

/// Small whole numbers, so that equal ones occur; every direction, every way to broadcast.
std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Shape& a, const Shape& b, const std::string& direction) {
    const auto numbers = [&](const Shape& shape) {
      return SampleSrc{.desc = {dtype, shape, {}}, .low = 0, .high = 4, .is_integer = true};
    };
    out.push_back({.srcs = {numbers(a), numbers(b)}, .attributes = {{"direction", direction}}, .has_gradient = false});
  };
  for (const std::string& direction : kDirections) {
    for (const auto& [a, b] : binary_shapes()) add(DType::kF32, a, b, direction);
    for (const DType dtype : {DType::kI32, DType::kI64}) add(dtype, {17}, {17}, direction);
  }
  return out;
}

}  // namespace

void define_compare(OpTable& table) {
  table.add({.name = "compare",
             .doc = "dst = whether a = b, a ≠ b, a < b, a ≤ b, a > b or a ≥ b; only ne holds for NaN",
             .srcs = {"a", "b"},
             .dsts = {"dst"},
             .attributes = {{.name = "direction", .allowed = kDirections, .example = std::string("eq")}},
             .infer = infer,
             .cost = [](const OpCall& call) { return elementwise_cost(call, 1); },
             .chunkable = broadcast_chunks,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
