#include "apps/stop_signal.h"

#include <csignal>

namespace plimsoll::apps {
namespace {

volatile std::sig_atomic_t received_signal = 0;

void receive(int signal) {
  received_signal = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

StopSignal::StopSignal() {
  received_signal = 0;
  std::signal(SIGINT, receive);
  std::signal(SIGTERM, receive);
}

StopSignal::~StopSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int StopSignal::received() { return received_signal; }

}  // namespace plimsoll::apps
