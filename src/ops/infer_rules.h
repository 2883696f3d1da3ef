#pragma once

#include <string>
#include <vector>

#include "core/attributes.h"
#include "core/result.h"
#include "core/tensor_desc.h"

namespace plimsoll::ops {

/// Checks and conversions that the shape rules of many ops share. All errors are invalid_argument and begin with "[op]
/// ".

/// That `desc`, called `src` in messages, has elements that gradients can flow through.
Status check_floating(const std::string& op, const std::string& src, const TensorDesc& desc);

/// That `axis` names one of `desc`'s axes, counted from the end where it is negative. Returns: it in [0, rank).
Result<int> try_axis(const std::string& op, int64_t axis, const std::string& src, const TensorDesc& desc);

/// The axis that the attribute "axis" names, in [0, rank). Requires: try_axis accepts it.
int axis_of(const Shape& shape, const Attributes& attributes);

/// `extents` as a shape. Errors: more than Shape::kMaxRank of them, a negative one, more elements than int64 counts.
Result<Shape> try_shape(const std::string& op, const std::vector<int64_t>& extents);

/// That elements of type `dtype` can hold `number` exactly enough: any for a floating type, else whole and in range.
Status check_number(const std::string& op, double number, DType dtype);

/// The whole numbers of a type that has no others: low <= number < end.
struct WholeRange {
  double low = 0;
  double end = 0;
};
/// Requires: `dtype` is not floating.
WholeRange whole_range(DType dtype);

/// The extents of `shape` as the value of an attribute.
std::vector<int64_t> to_ints(const Shape& shape);

/// The shape [product of the axes before `axis`, its extent, product of those after it]: every loop along one axis.
struct AxisSpan {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
};
AxisSpan make_axis_span(const Shape& shape, int axis);

}  // namespace plimsoll::ops
