#include "apps/messages.h"

#include <cstdio>

#include "apps/command.h"
#include "core/printable.h"
#include "report/refusal.h"

namespace plimsoll::apps {
namespace {

void print_message(const char* event, const std::string& message, bool json) {
  const std::string line =
      json ? to_line({{"event", event}, {"message", message}}) : event + (": " + printable(message));
  std::fputs((line + "\n").c_str(), stderr);
}

}  // namespace

void print_error(const Error& error, bool json) {
  std::fputs((json ? report::to_json(error) + "\n" : report::to_text(error)).c_str(), stderr);
}

void print_exception(const std::exception& fault, bool json) {
  const std::string line = json ? to_line({{"event", "error"}, {"error", "internal"}, {"message", fault.what()}})
                                : "plimsoll: internal error: " + printable(fault.what());
  std::fputs((line + "\n").c_str(), stderr);
}

void print_warning(const std::string& message, bool json) { print_message("warning", message, json); }

void print_note(const std::string& message, bool json) { print_message("note", message, json); }

}  // namespace plimsoll::apps
