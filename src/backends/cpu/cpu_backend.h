#pragma once

#include "backends/api/backend.h"

namespace plimsoll::backends::cpu {

/// Kernels on the processor: oneDNN for matrix products, Highway for the rest, on `pool`'s threads.
///
/// Requires: the pool outlives the backend and its kernels.
std::unique_ptr<Backend> make_cpu_backend(ThreadPool& pool);

}  // namespace plimsoll::backends::cpu
