#pragma once

#include <stdexcept>

#include "core/result.h"

namespace plimsoll::api {

/// An Error as an exception, for programs that prefer these.
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.message), error_(std::move(error)) {}

  const Error& error() const { return error_; }

 private:
  Error error_;
};

/// The value of a result, or an exception in its stead: the one place of the library that throws.
///
/// Errors: throws Exception where `!result.ok()`.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result.ok()) throw Exception(result.error());
  return std::move(result).value();
}

}  // namespace plimsoll::api
