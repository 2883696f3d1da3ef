#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "core/tensor_desc.h"

namespace plimsoll::ops {

/// Success, or "[op] name is f32[2,3]; expected i32".
Status expect_dtype(std::string_view op, std::string_view name, const TensorDesc& given, DType expected);

/// Success, or "[op] name is f32[2,3]; expected f32[4]". Layouts are not compared: shape rules know none.
Status expect_desc(std::string_view op, std::string_view name, const TensorDesc& given, const TensorDesc& expected);

/// Success where dtype and number of axes are right, or "[op] name is f32[2,3]; expected f32[B,T,H,D]".
Status expect_axes(std::string_view op, std::string_view name, const TensorDesc& given, DType dtype, int rank,
                   std::string_view axes);

/// What the rule of another op says, its refusal in the name of `op`: for ops that are another op and more.
template <class T>
Result<T> in_the_name_of(const std::string& op, Result<T> said) {
  if (said.ok()) return said;
  Error error = said.error();
  error.message = "[" + op + error.message.substr(error.message.find(']'));
  return error;
}

}  // namespace plimsoll::ops
