#pragma once

#include "core/result.h"
#include "hardware/instruction_sets.h"

namespace plimsoll::engine {

/// Refuses (unsupported) a processor without AVX2: the speed of our kernels and of oneDNN, and with it what plans
/// predict, stands on it.
Status check_processor(hardware::InstructionSets sets);

}  // namespace plimsoll::engine
