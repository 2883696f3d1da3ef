// reduce_sum: the sum over some axes, or all.
#include "ops/infer_rules.h"
#include "ops/reduction/reduce.h"

namespace plimsoll::ops {
namespace {

void gradient(GradientContext& c) {
  c.set_d_src(0, c.add("expand", {with_kept_dims(c, c.d_dst(0))}, {{"shape", to_ints(c.src_desc(0).shape)}}));
}

}  // namespace

void define_reduce_sum(OpTable& table) {
  table.add(make_reduce({.name = "reduce_sum",
                         .doc = "the sum over axes; of no elements it is 0",
                         .combine = [](double so_far, double x) { return so_far + x; },
                         .gradient = gradient,
                         .accumulates = true}));
}

}  // namespace plimsoll::ops
