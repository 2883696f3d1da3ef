#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/check.h"

namespace plimsoll {

/// What kind of failure an Error reports; the outer edge turns it into an exit code or an exception.
enum class ErrorCode { kInvalidArgument, kUnsupported, kInfeasible, kOutOfMemory, kIo, kCorrupt, kCancelled };

/// The field name of a code, e.g. "invalid_argument".
const char* to_string(ErrorCode code);

/// Why a budget cannot be met: the numbers a user needs to choose another one. All sizes in bytes.
struct Infeasible {
  struct Holder {
    std::string name;
    int64_t size_bytes = 0;
  };
  struct Remedy {
    std::string option;       ///< what to change, as the user would type it
    int64_t saved_bytes = 0;  ///< by how much it lowers `needed_bytes`
  };
  int64_t needed_bytes = 0;
  int64_t budget_bytes = 0;
  std::string tightest_step;
  std::vector<Holder> holders;   ///< largest first, alive at the tightest step
  std::vector<Remedy> remedies;  ///< largest saving first
};

/// A failure that the user or the world caused. Our own bugs are PLIMSOLL_CHECK failures instead.
struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
  std::shared_ptr<const Infeasible> infeasible;  ///< set when code is kInfeasible

  /// The same error with `context: ` put before its message.
  [[nodiscard]] Error with_context(const std::string& context) const {
    return {code, context + ": " + message, infeasible};
  }
};

inline Error invalid_argument(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message), {}}; }
inline Error unsupported(std::string message) { return {ErrorCode::kUnsupported, std::move(message), {}}; }
inline Error io_error(std::string message) { return {ErrorCode::kIo, std::move(message), {}}; }
inline Error corrupt(std::string message) { return {ErrorCode::kCorrupt, std::move(message), {}}; }
inline Error cancelled(std::string message) { return {ErrorCode::kCancelled, std::move(message), {}}; }

/// A value, or the Error that kept it from being made.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// Requires: ok().
  T& value() & {
    PLIMSOLL_CHECK(ok(), error().message);
    return std::get<0>(state_);
  }
  const T& value() const& {
    PLIMSOLL_CHECK(ok(), error().message);
    return std::get<0>(state_);
  }
  T&& value() && {
    PLIMSOLL_CHECK(ok(), error().message);
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Requires: !ok().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error. `return {};` is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void value() const { PLIMSOLL_CHECK(ok(), error_->message); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace plimsoll

#define PLIMSOLL_CONCAT_INNER(a, b) a##b
#define PLIMSOLL_CONCAT(a, b) PLIMSOLL_CONCAT_INNER(a, b)

/// Returns the error of `expression` (a Result or Status) from the enclosing function, if it has one.
#define PLIMSOLL_RETURN_IF_ERROR(expression)                   \
  do {                                                         \
    const auto& plimsoll_status = (expression);                \
    if (!plimsoll_status.ok()) return plimsoll_status.error(); \
  } while (false)

/// `PLIMSOLL_ASSIGN(auto x, try_x());` declares x from the value, or returns the error.
#define PLIMSOLL_ASSIGN(declaration, expression) \
  PLIMSOLL_ASSIGN_IMPL(PLIMSOLL_CONCAT(plimsoll_result_, __LINE__), declaration, expression)
#define PLIMSOLL_ASSIGN_IMPL(result, declaration, expression) \
  auto result = (expression);                                 \
  if (!result.ok()) return result.error();                    \
  declaration = std::move(result).value()
