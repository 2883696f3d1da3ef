#include "ops/expect.h"

#include <string>

namespace plimsoll::ops {
namespace {

Error refusal(std::string_view op, std::string_view name, const TensorDesc& given, const std::string& expected) {
  return invalid_argument("[" + std::string(op) + "] " + std::string(name) + " is " + to_string(given) + "; expected " +
                          expected);
}

}  // namespace

Status expect_dtype(std::string_view op, std::string_view name, const TensorDesc& given, DType expected) {
  if (given.dtype == expected) return {};
  return refusal(op, name, given, std::string(to_string(expected)));
}

Status expect_desc(std::string_view op, std::string_view name, const TensorDesc& given, const TensorDesc& expected) {
  if (given.dtype == expected.dtype && given.shape == expected.shape) return {};
  return refusal(op, name, given, to_string(expected));
}

Status expect_axes(std::string_view op, std::string_view name, const TensorDesc& given, DType dtype, int rank,
                   std::string_view axes) {
  if (given.dtype == dtype && given.shape.rank() == rank) return {};
  return refusal(op, name, given, std::string(to_string(dtype)) + std::string(axes));
}

}  // namespace plimsoll::ops
