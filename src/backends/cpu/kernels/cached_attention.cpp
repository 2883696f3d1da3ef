// cached_attention: attention over the filled part of a key/value cache.
#include <algorithm>

#include "backends/cpu/attention_forward.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

/// Query t sees keys <= position + t, as far as the cache goes.
Result<std::unique_ptr<Kernel>> prepare_cached_attention(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {3}));
  const ops::AttentionSizes sizes = ops::attention_sizes(kernel.srcs[0].shape, kernel.srcs[1].shape);
  const float scale = attention_scale(kernel, sizes);
  const auto launch = [sizes, scale, &pool = context.pool](const LaunchArgs& args) {
    attend({.sizes = sizes,
            .offset = std::clamp<int64_t>(*src<int64_t>(args, 3), -sizes.queries, sizes.keys),
            .scale = scale,
            .q = src<float>(args, 0),
            .k = src<float>(args, 1),
            .v = src<float>(args, 2),
            .o = dst<float>(args, 0)},
           pool, args.workspace);
  };
  return make_kernel(launch, attend_bytes(sizes, context.pool.threads()));
}

}  // namespace

void define_cached_attention(KernelTable& table) { table.add("cached_attention", prepare_cached_attention); }

}  // namespace plimsoll::backends::cpu
