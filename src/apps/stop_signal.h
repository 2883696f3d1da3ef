#pragma once

namespace plimsoll::apps {

/// While it lives, SIGINT and SIGTERM only set a flag; a second signal ends the process at once.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// The signal that came, or 0.
  static int received();
};

}  // namespace plimsoll::apps
