#pragma once

#include <string>

#include "ops/op_table.h"

namespace plimsoll::ops {

/// The page docs/ops.md: one row an op, in the order of names, with its inputs and outputs, attributes with their
/// defaults, whether it has a gradient, and its doc line.
std::string document_ops(const OpTable& table);

}  // namespace plimsoll::ops
