#include "core/shape.h"

#include <algorithm>

namespace plimsoll {

std::optional<int64_t> checked_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

Shape::Shape(std::span<const int64_t> dims) : rank_(static_cast<int>(dims.size())) {
  PLIMSOLL_CHECK(dims.size() <= kMaxRank, "rank ", dims.size());
  std::copy(dims.begin(), dims.end(), dims_.begin());
}

void Shape::push_back(int64_t dim) {
  PLIMSOLL_CHECK(rank_ < kMaxRank, "rank ", rank_);
  dims_[static_cast<size_t>(rank_++)] = dim;
}

int64_t Shape::numel() const {
  const std::optional<int64_t> n = try_numel();
  PLIMSOLL_CHECK(n.has_value(), to_string(*this));
  return *n;
}

std::optional<int64_t> Shape::try_numel() const {
  // Zeros are left out first, so that the verdict does not depend on where they stand and no partial product overflows.
  std::optional<int64_t> n = 1;
  bool is_empty = false;
  for (int64_t dim : dims()) {
    if (dim < 0) return std::nullopt;
    is_empty = is_empty || dim == 0;
    n = checked_multiply(*n, std::max<int64_t>(dim, 1));
    if (!n) return std::nullopt;
  }
  return is_empty ? 0 : n;
}

int64_t Shape::numel_between(int first, int last) const {
  int64_t n = 1;
  for (int axis = first; axis < last; ++axis) n *= (*this)[axis];
  return n;
}

std::string to_string(const Shape& shape) {
  std::string out = "[";
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) out += ',';
    out += std::to_string(shape[axis]);
  }
  return out + "]";
}

std::optional<int> try_normalize_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::optional<Shape> try_broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape out = longer;
  const int shift = longer.rank() - shorter.rank();
  for (int axis = 0; axis < shorter.rank(); ++axis) {
    const int64_t x = longer[axis + shift];
    const int64_t y = shorter[axis];
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[axis + shift] = x == 1 ? y : x;
  }
  return out;
}

}  // namespace plimsoll
