#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "core/check.h"

namespace plimsoll {

/// The product of two sizes, or nothing if it does not fit in int64.
std::optional<int64_t> checked_multiply(int64_t a, int64_t b);

/// The extents of a tensor, outermost first; rank 0 is a scalar. A plain value without heap memory.
class Shape {
 public:
  static constexpr int kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
  int64_t operator[](int axis) const {
    PLIMSOLL_CHECK(axis >= 0 && axis < rank_, axis, " of ", rank_);
    return dims_[static_cast<size_t>(axis)];
  }
  int64_t& operator[](int axis) {
    PLIMSOLL_CHECK(axis >= 0 && axis < rank_, axis, " of ", rank_);
    return dims_[static_cast<size_t>(axis)];
  }
  /// The extent of `axis`, where negative axes count from the end.
  int64_t at(int axis) const { return (*this)[axis < 0 ? axis + rank_ : axis]; }

  /// Requires: rank() < kMaxRank.
  void push_back(int64_t dim);

  /// The number of elements; the graph's verifier has made sure that it fits.
  int64_t numel() const;
  /// The same, or nothing where an extent is negative or the product of those that are not zero overflows int64.
  std::optional<int64_t> try_numel() const;

  /// Product of the extents in [first, last).
  int64_t numel_between(int first, int last) const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

/// "[8,128]"
std::string to_string(const Shape& shape);

/// Turns an axis in [-rank, rank) into [0, rank), or nothing.
std::optional<int> try_normalize_axis(int64_t axis, int rank);

/// The shape that `a` and `b` broadcast to (right-aligned, extents equal or 1, as numpy), or nothing.
std::optional<Shape> try_broadcast(const Shape& a, const Shape& b);

}  // namespace plimsoll
