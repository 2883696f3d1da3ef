#pragma once

#include <string>

#include "core/result.h"

namespace plimsoll::report {

/// An error for people: its message in the first line, control characters escaped; where a budget cannot be met, then
/// the least that would do, the largest holders at the tightest step, and what would help, by how much. Ends with a
/// line end.
std::string to_text(const Error& error);

/// One JSON object in one line: "event" ("error"), "error" (the code), "message", and for a budget that cannot be met
/// "needed_bytes", "budget_bytes", "tightest_step", "holders" and "remedies".
std::string to_json(const Error& error);

}  // namespace plimsoll::report
