#pragma once

#include "ops/reduction/reduce.h"

namespace plimsoll::ops {

/// The gradient of a largest or smallest element: shared evenly by all elements that equal it.
inline void extremum_gradient(GradientContext& c) {
  const DType dtype = c.src_desc(0).dtype;
  const auto is_taken = c.add("compare", {c.src(0), with_kept_dims(c, c.dst(0))}, {{"direction", "eq"}});
  const auto count =
      c.add("reduce_sum", {c.add("cast", {is_taken}, {{"dtype", std::string(to_string(dtype))}})}, c.attributes());
  const auto share = with_kept_dims(c, c.add("divide", {c.d_dst(0), count}));
  c.set_d_src(0, c.add("where", {is_taken, share, c.constant(0, dtype)}));
}

}  // namespace plimsoll::ops
