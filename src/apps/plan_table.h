#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/session_plan.h"

namespace plimsoll::apps {

/// The memory of a session by category at its tightest step, the arena's height beside its lower bound, what the process
/// needs beside the arena, and the predicted time of a step.
std::string plan_to_text(const engine::SessionPlan& plan, std::optional<Bytes> ram);
nlohmann::ordered_json plan_to_json(const engine::SessionPlan& plan, std::optional<Bytes> ram);

}  // namespace plimsoll::apps
