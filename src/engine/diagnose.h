#pragma once

#include <string>

#include "engine/session.h"

namespace plimsoll::engine {

/// Finds the first tensor that is not finite in the step that has just been stopped by a check, by running it again up
/// to there and looking at every output. State is untouched, since updates come after all checks; the feeds must still
/// be valid.
///
/// Returns: e.g. "parameter 'h.0.mlp.c_fc.weight'" or "output 0 of matmul 'h.0.attn.c_attn'"; what the check is called
/// where nothing else is found. −∞ counts as finite: it is how attention says that a row sees nothing.
std::string find_first_non_finite(Session& session, runtime::InstructionId failed_check);

}  // namespace plimsoll::engine
