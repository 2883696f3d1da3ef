// Matrix products over broadcast batches, in tasks.
#include "ops/nn/matmul.h"
#include "backends/cpu/blocked_product.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

BlockedProduct make_product(const program::Kernel& kernel, int threads) {
  const Shape& a = kernel.srcs[0].shape;
  const Shape& b = kernel.srcs[1].shape;
  const Shape& dst = kernel.dsts[0].shape;
  const bool transpose_a = kernel.attributes.get_bool("transpose_a");
  BlockedProduct::Sizes sizes{.m = dst.at(-2),
                              .n = dst.at(-1),
                              .k = a.at(transpose_a ? -2 : -1),
                              .transpose_a = transpose_a,
                              .transpose_b = kernel.attributes.get_bool("transpose_b")};
  // One weight for all batches: their rows follow each other, so they are one product.
  if (!transpose_a && b.numel_between(0, b.rank() - 2) == 1 && a.rank() == dst.rank()) {
    sizes.m = dst.numel_between(0, dst.rank() - 1);
    return BlockedProduct(sizes, {0}, {0}, threads);
  }
  return BlockedProduct(sizes, ops::batch_offsets(dst, a), ops::batch_offsets(dst, b), threads);
}

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  BlockedProduct product = make_product(kernel, context.pool.threads());
  const int64_t workspace_bytes = product.workspace_bytes();
  const auto launch = [product = std::move(product), has_bias = kernel.srcs.size() == 3,
                       accumulates = accumulates(kernel, 0), &pool = context.pool](const LaunchArgs& args) {
    product.run(pool, {.a = src<float>(args, 0),
                       .b = src<float>(args, 1),
                       .bias = has_bias ? src<float>(args, 2) : nullptr,
                       .dst = dst<float>(args, 0),
                       .accumulates = accumulates,
                       .workspace = args.workspace});
  };
  return make_kernel(launch, workspace_bytes);
}

}  // namespace

void define_matmul(KernelTable& table) { table.add("matmul", prepare); }

}  // namespace plimsoll::backends::cpu
