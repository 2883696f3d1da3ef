#include "ops/infer_rules.h"

#include <cmath>

namespace plimsoll::ops {

Status check_floating(const std::string& op, const std::string& src, const TensorDesc& desc) {
  if (is_floating(desc.dtype)) return {};
  return invalid_argument("[" + op + "] " + src + " is " + to_string(desc) +
                          "; expected a floating type: f32, bf16, f16 or f64");
}

Result<int> try_axis(const std::string& op, int64_t axis, const std::string& src, const TensorDesc& desc) {
  const int rank = desc.shape.rank();
  if (const auto normalized = try_normalize_axis(axis, rank)) return *normalized;
  return invalid_argument("[" + op + "] axis " + std::to_string(axis) + " is out of range for " + src + " " +
                          to_string(desc) + "; expected " +
                          (rank == 0 ? "an input with axes" : std::to_string(-rank) + ".." + std::to_string(rank - 1)));
}

int axis_of(const Shape& shape, const Attributes& attributes) {
  return *try_normalize_axis(attributes.get_int("axis"), shape.rank());
}

Result<Shape> try_shape(const std::string& op, const std::vector<int64_t>& extents) {
  if (extents.size() > Shape::kMaxRank)
    return invalid_argument("[" + op + "] shape " + to_string(Attribute{extents}) + " has " +
                            std::to_string(extents.size()) + " axes; expected at most " +
                            std::to_string(Shape::kMaxRank));
  const Shape shape{std::span<const int64_t>(extents)};
  if (shape.try_numel()) return shape;
  return invalid_argument("[" + op + "] shape " + to_string(shape) +
                          " has a negative or too large extent; expected sizes whose product fits in 64 bits");
}

WholeRange whole_range(DType dtype) {
  if (dtype == DType::kBool) return {0, 2};
  const double count = std::ldexp(1.0, static_cast<int>(8 * size_bytes(dtype)));
  const bool is_signed = dtype == DType::kI8 || dtype == DType::kI32 || dtype == DType::kI64;
  return is_signed ? WholeRange{-count / 2, count / 2} : WholeRange{0, count};
}

Status check_number(const std::string& op, double number, DType dtype) {
  if (is_floating(dtype)) return {};
  const WholeRange range = whole_range(dtype);
  if (number == std::trunc(number) && number >= range.low && number < range.end) return {};
  return invalid_argument("[" + op + "] value " + to_string(Attribute{number}) + " is no " +
                          std::string(to_string(dtype)) + "; expected a whole number that the type holds");
}

std::vector<int64_t> to_ints(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

AxisSpan make_axis_span(const Shape& shape, int axis) {
  return {shape.numel_between(0, axis), shape[axis], shape.numel_between(axis + 1, shape.rank())};
}

}  // namespace plimsoll::ops
