#pragma once

#include "engine/environment/environment.h"

namespace plimsoll::engine {

/// Flops a second of a 1024³ f32 product on the environment's backend and threads: the best of a third of a
/// second, where torch_step.py takes the best of one. Errors: none; 0 where the backend has no such kernel.
double measure_matmul_flops(Environment& environment);

}  // namespace plimsoll::engine
