#pragma once

#include "backends/api/backend.h"
#include "ops/op_table.h"

namespace plimsoll::backends::reference {

/// The oracle: every op by its own f64 evaluation, operands converted from and to their dtypes.
///
/// Memory: a launch allocates f64 copies of all operands. Order: one thread. Requires: `ops` and `pool` outlive it.
std::unique_ptr<Backend> make_reference_backend(const ops::OpTable& ops, ThreadPool& pool);

}  // namespace plimsoll::backends::reference
