#pragma once

#include <exception>
#include <string>

#include "core/result.h"

namespace plimsoll::apps {

// What a command says beside its results, on stderr: one line for people, with control characters escaped, or under
// --json one object a line, whose "event" says what it is.

/// An error; for people with the lines that a refusal needs.
void print_error(const Error& error, bool json);
/// An exception that no command expected, which is our fault: an error with the code "internal".
void print_exception(const std::exception& fault, bool json);
/// What makes a run other than its user may think.
void print_warning(const std::string& message, bool json);
/// What is good to know and changes nothing.
void print_note(const std::string& message, bool json);

}  // namespace plimsoll::apps
