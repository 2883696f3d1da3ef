#pragma once

#include <sstream>
#include <string>

namespace plimsoll {

/// Prints a failed PLIMSOLL_CHECK to stderr and aborts: the one place where the library gives up, for our own bugs
/// only.
[[noreturn]] void fail_check(const char* file, int line, const char* condition, const std::string& detail);

namespace detail {
template <class... Parts>
std::string join(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}
}  // namespace detail

}  // namespace plimsoll

/// States what must hold if our own code is right; on in release. Further arguments are values for the message.
#define PLIMSOLL_CHECK(condition, ...)                                                               \
  do {                                                                                               \
    if (!(condition)) [[unlikely]]                                                                   \
      ::plimsoll::fail_check(__FILE__, __LINE__, #condition, ::plimsoll::detail::join(__VA_ARGS__)); \
  } while (false)
