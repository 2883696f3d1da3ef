// Matrix products over broadcast batches, in tasks; with what is done to their elements before they are written, and
// with the sums of columns.
#include "ops/nn/matmul.h"

#include "backends/cpu/blocked_product.h"
#include "backends/cpu/chain_rows.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

struct Transposes {
  bool a;
  bool b;
};

Transposes transposes_of(const program::Kernel& kernel) {
  return {kernel.attributes.get_bool("transpose_a"), kernel.attributes.get_bool("transpose_b")};
}

BlockedProduct make_product(const program::Kernel& kernel, Transposes transposes, int threads) {
  const Shape& a = kernel.srcs[0].shape;
  const Shape& b = kernel.srcs[1].shape;
  const Shape& dst = kernel.dsts[0].shape;
  BlockedProduct::Sizes sizes{.m = dst.at(-2),
                              .n = dst.at(-1),
                              .k = a.at(transposes.a ? -2 : -1),
                              .transpose_a = transposes.a,
                              .transpose_b = transposes.b};
  // One weight for all batches: their rows follow each other, so they are one product.
  if (!transposes.a && b.numel_between(0, b.rank() - 2) == 1 && a.rank() == dst.rank()) {
    sizes.m = dst.numel_between(0, dst.rank() - 1);
    return BlockedProduct(sizes, {0}, {0}, threads);
  }
  return BlockedProduct(sizes, ops::batch_offsets(dst, a), ops::batch_offsets(dst, b), threads);
}

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  BlockedProduct product = make_product(kernel, transposes_of(kernel), context.pool.threads());
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

/// The chain runs over each block of the product while the caches hold it.
Result<std::unique_ptr<Kernel>> prepare_chain(const program::Kernel& kernel, const CpuContext& context) {
  const ops::Chain chain = ops::chain_of(kernel.attributes);
  const size_t operands = ops::matmul_chain_operands(kernel.srcs.size(), chain);
  PLIMSOLL_RETURN_IF_ERROR(check_chain_operands(kernel, chain, operands));
  ChainRows rows(chain, kernel, kernel.dsts[0], {.first_src = operands, .first_kept = 1});
  BlockedProduct product = make_product(kernel, transposes_of(kernel), context.pool.threads());
  const int64_t workspace_bytes = product.workspace_bytes();
  // What is kept first may be the product itself.
  const size_t product_dst = !chain.steps.empty() && chain.steps[0].op == ops::kKeep ? 1 : 0;
  const int64_t n = kernel.dsts[0].shape.at(-1);
  const auto launch = [product = std::move(product), rows = std::move(rows), has_bias = operands == 3, product_dst, n,
                       &pool = context.pool](const LaunchArgs& args) {
    float* made = dst<float>(args, product_dst);
    const auto apply_chain = [&](Range block_rows, Range columns) {
      for (int64_t row = block_rows.begin; row < block_rows.end; ++row) {
        const int64_t first = row * n + columns.begin;
        rows.apply(args, {made + first, dst<float>(args, 0) + first, first, columns.size()});
      }
    };
    const FinishedBlock finished(apply_chain);
    product.run(pool, {.a = src<float>(args, 0),
                       .b = src<float>(args, 1),
                       .bias = has_bias ? src<float>(args, 2) : nullptr,
                       .dst = made,
                       .workspace = args.workspace,
                       .finished = &finished});
  };
  return make_kernel(launch, workspace_bytes);
}

/// The sums of b's rows where there is no product that packs b.
void sum_rows(const float* b, int64_t rows, int64_t n, float* sums, bool adds) {
  for (int64_t j = 0; j < n && !adds; ++j) sums[j] = 0;
  for (int64_t i = 0; i < rows * n; ++i) sums[i % n] += b[i];
}

Result<std::unique_ptr<Kernel>> prepare_bias_grad(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  BlockedProduct product = make_product(kernel, {.a = true, .b = false}, context.pool.threads());
  const int64_t workspace_bytes = product.workspace_bytes();
  const Shape& d_y = kernel.srcs[1].shape;
  const auto launch = [product = std::move(product), rows = d_y[0], n = d_y[1], is_empty = kernel.srcs[0].numel() == 0,
                       adds = accumulates(kernel, 0), adds_to_sums = accumulates(kernel, 1),
                       &pool = context.pool](const LaunchArgs& args) {
    product.run(pool, {.a = src<float>(args, 0),
                       .b = src<float>(args, 1),
                       .dst = dst<float>(args, 0),
                       .accumulates = adds,
                       .workspace = args.workspace,
                       .column_sums = is_empty ? nullptr : dst<float>(args, 1),
                       .adds_to_sums = adds_to_sums});
    if (is_empty) sum_rows(src<float>(args, 1), rows, n, dst<float>(args, 1), adds_to_sums);
  };
  return make_kernel(launch, workspace_bytes);
}

}  // namespace

void define_matmul(KernelTable& table) {
  table.add("matmul", prepare);
  table.add("matmul_chain", prepare_chain);
  table.add("matmul_bias_grad", prepare_bias_grad);
}

}  // namespace plimsoll::backends::cpu
