// fill: a constant tensor that a kernel writes, so that it takes no space in the program's constants.
#include <algorithm>

#include "ops/infer_rules.h"
#include "ops/op_table.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const std::string& type = call.attributes.get_string("dtype");
  const auto dtype = try_parse_dtype(type);
  if (!dtype) return invalid_argument("[fill] there is no dtype \"" + type + "\"; expected f32, i32, bool, …");
  PLIMSOLL_RETURN_IF_ERROR(check_number("fill", call.attributes.get_float("value"), *dtype));
  PLIMSOLL_ASSIGN(const Shape shape, try_shape("fill", call.attributes.get_ints("shape")));
  return std::vector<TensorDesc>{{*dtype, shape, {}}};
}

void evaluate(std::span<const Array>, std::span<Array> dsts, const Attributes& attributes) {
  std::fill(dsts[0].data.begin(), dsts[0].data.end(), attributes.get_float("value"));
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {1}, {7}, {17, 3}, {1025}, {0}, {3, 0}})
    out.push_back({.attributes = {{"shape", shape}, {"dtype", "f32"}, {"value", 0.25}}, .has_gradient = false});
  for (const char* dtype : {"i32", "i64", "bool"})
    out.push_back(
        {.attributes = {{"shape", std::vector<int64_t>{7}}, {"dtype", dtype}, {"value", 1.0}}, .has_gradient = false});
  return out;
}

}  // namespace

void define_fill(OpTable& table) {
  table.add({.name = "fill",
             .doc = "dst = value everywhere",
             .dsts = {"dst"},
             .attributes = {{.name = "shape", .example = std::vector<int64_t>{2, 3}},
                            {.name = "dtype", .example = std::string("f32")},
                            {.name = "value", .example = 0.0}},
             .infer = infer,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
