// reduce_mean: the mean over some axes, or all.
#include <algorithm>

#include "ops/infer_rules.h"
#include "ops/reduction/reduce.h"

namespace plimsoll::ops {
namespace {

/// Scaled while the gradient is still small, then repeated.
void gradient(GradientContext& c) {
  const Shape& shape = c.src_desc(0).shape;
  const auto numel = static_cast<double>(std::max<int64_t>(shape.numel(), 1));  // nothing to scale where it is empty
  const double share = static_cast<double>(c.dst_desc(0).numel()) / numel;
  const auto scaled = c.add("multiply", {c.d_dst(0), c.constant(share, c.src_desc(0).dtype)});
  c.set_d_src(0, c.add("expand", {with_kept_dims(c, scaled)}, {{"shape", to_ints(shape)}}));
}

}  // namespace

void define_reduce_mean(OpTable& table) {
  table.add(make_reduce({.name = "reduce_mean",
                         .doc = "the mean over axes",
                         .combine = [](double so_far, double x) { return so_far + x; },
                         .finish = [](double total, double count) { return total / count; },
                         .gradient = gradient,
                         .takes_empty = false}));
}

}  // namespace plimsoll::ops
