#pragma once

#include "ops/array.h"

namespace plimsoll::backends::reference {

/// The elements at `data` as f64, in logical order. Requires: a plain layout.
ops::Array to_array(const TensorDesc& desc, const void* data);

/// Writes the elements in `array`'s dtype, rounded to the nearest, ties to even; whole-number types truncate and stop
/// at their ends, NaN gives 0.
void write_array(const ops::Array& array, void* data);

}  // namespace plimsoll::backends::reference
