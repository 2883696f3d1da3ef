#pragma once

#include <cstddef>
#include <span>

#include "engine/environment/environment.h"

namespace plimsoll::engine {

/// Flops a second of a 1024³ f32 product on the environment's backend and threads: the best of a third of a second,
/// where torch_step.py takes the best of one.
///
/// Memory: 13 MiB and the product's workspace, in huge pages like an arena, given back. Errors: none; 0 where the
/// backend has no such kernel or there is no memory.
double measure_matmul_flops(Environment& environment);

/// The same inside `memory`, whose contents are lost; 0 where that is too small.
double measure_matmul_flops(Environment& environment, std::span<std::byte> memory);

}  // namespace plimsoll::engine
