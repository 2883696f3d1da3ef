#include "apps/messages.h"

#include <cstdio>

#include "apps/fields.h"
#include "core/printable.h"
#include "report/refusal.h"

namespace plimsoll::apps {
namespace {

void print_line(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

void print_message(const char* event, const std::string& message, bool json) {
  if (json) return print_line(to_line({{"event", event}, {"message", message}}));
  print_line(event + (": " + printable(message)));
}

}  // namespace

void print_error(const Error& error, bool json) {
  std::fputs((json ? report::to_json(error) + "\n" : report::to_text(error)).c_str(), stderr);
}

void print_exception(const std::exception& fault, bool json) {
  if (json) return print_line(to_line({{"event", "error"}, {"error", "internal"}, {"message", fault.what()}}));
  print_line("plimsoll: internal error: " + printable(fault.what()));
}

void print_warning(const std::string& message, bool json) { print_message("warning", message, json); }

void print_note(const std::string& message, bool json) { print_message("note", message, json); }

}  // namespace plimsoll::apps
