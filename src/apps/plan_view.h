#pragma once

#include <optional>
#include <string>

#include "engine/session_plan.h"

namespace plimsoll::apps {

/// Prints a plan and what the process needs beside it, as `plimsoll plan` and the head of `plimsoll train` show it.
void print_plan(const plan::Plan& plan, const engine::MemoryNeed& need, std::optional<Bytes> ram, bool json);

/// Warns on stderr of what makes a training step other than its user may think: parameters without a gradient, work
/// done twice, ops on the reference backend.
void print_warnings(const engine::SessionPlan& plan, engine::Environment& environment);

}  // namespace plimsoll::apps
