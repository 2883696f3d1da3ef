#pragma once

#include <map>
#include <string>

#include "engine/run_file/run_config.h"

namespace plimsoll::engine {

/// What a resumed run must share with the run that it continues, by name: the tokens and their order, what dropout
/// draws, and what the optimizer's state means. Rates, schedules and the number of updates may change.
std::map<std::string, std::string> lasting_settings(const RunConfig& config);

}  // namespace plimsoll::engine
