// reduce_prod: the product over some axes, or all.
#include "ops/reduction/reduce.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

/// The product of the others, for every element. Dividing the product by the element fails where it is 0, so zeros are
/// counted apart: `others` is the product of the elements that are not zero, and it counts for an element only if no
/// other one is zero.
void gradient(GradientContext& c) {
  const DType dtype = c.src_desc(0).dtype;
  const auto zero = c.constant(0, dtype);
  const auto is_zero = c.add("compare", {c.src(0), zero}, {{"direction", "eq"}});
  const auto divisor = c.add("where", {is_zero, c.constant(1, dtype), c.src(0)});
  const auto total =
      with_kept_dims(c, c.add("multiply", {c.d_dst(0), c.add("reduce_prod", {divisor}, c.attributes())}));
  const auto others = c.add("divide", {total, divisor});
  const auto zeros = c.add("cast", {is_zero}, {{"dtype", std::string(to_string(dtype))}});
  const auto all_zeros = with_kept_dims(c, c.add("reduce_sum", {zeros}, c.attributes()));
  const auto no_other_zero = c.add("compare", {all_zeros, zeros}, {{"direction", "eq"}});
  c.set_d_src(0, c.add("where", {no_other_zero, others, zero}));
}

/// Rows without a zero, with one and with two.
Sample sample_with_zeros() {
  return {.srcs = {exact_src(DType::kF32, {3, 3}, {0.5, -2, 1.5, 0.5, 0, 1.5, 0, 2, 0})},
          .attributes = {{"axes", std::vector<int64_t>{1}}}};
}

}  // namespace

void define_reduce_prod(OpTable& table) {
  OpDef def = make_reduce({.name = "reduce_prod",
                           .doc = "the product over axes; of no elements it is 1",
                           .start = 1,
                           .combine = [](double so_far, double x) { return so_far * x; },
                           .gradient = gradient});
  def.samples = [plain = def.samples] {
    std::vector<Sample> out = plain();
    out.push_back(sample_with_zeros());
    return out;
  };
  table.add(std::move(def));
}

}  // namespace plimsoll::ops
