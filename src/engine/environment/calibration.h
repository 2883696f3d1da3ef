#pragma once

#include <cstddef>
#include <span>

#include "core/bytes.h"
#include "engine/environment/environment.h"

namespace plimsoll::engine {

/// What this machine does in a second on the environment's backend and threads: a 1024³ f32 product, and a copy of RAM,
/// bytes read and written together. Measured at the first call for that backend and number of threads, then remembered
/// as long as the process lives, so that all plans of a process assume the same.
///
/// Memory: within `ram`, what the process will need anyway, and 64 MiB (or twice the last cache) at most, given back;
/// so it is called when the plan is made and no arena taken yet. A process that needs little measures its caches in
/// part, which hold its data, too. Errors: none; a figure that can't be measured, and those of the reference backend,
/// are the ones of Rates by default.
/// Order: any thread, one at a time. Cost: half a second, then nothing.
Rates measure_rates(Environment& environment, Bytes ram);

/// The same with the product measured again inside `memory`, whose contents are lost; the better of both is remembered.
/// For comparing a prediction with times taken meanwhile: on a shared machine either measurement may have been held up.
Rates measure_rates_again(Environment& environment, std::span<std::byte> memory);

}  // namespace plimsoll::engine
