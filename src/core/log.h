#pragma once

#include <string_view>

namespace plimsoll {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Where library code sends what it has to say; the application decides what becomes of it. Order: calls come from one
/// thread.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view message) = 0;
};

}  // namespace plimsoll
