// cached_attention: attention over the filled part of a key/value cache.
#include "backends/cpu/attention_forward.h"
#include "backends/cpu/kernel_table.h"
#include "backends/cpu/onednn.h"

namespace plimsoll::backends::cpu {
namespace {

/// Query t sees keys <= position + t, as far as the cache goes.
Result<std::unique_ptr<Kernel>> prepare_cached_attention(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {3}));
  AttentionForward attention{.sizes = ops::attention_sizes(kernel.srcs[0].shape, kernel.srcs[1].shape)};
  attention.scale =
      static_cast<float>(ops::attention_scale(kernel.attributes.get_float("scale"), attention.sizes.head_size));
  compile_sgemm(false, true);
  compile_sgemm(false, false);
  const auto launch = [=, &pool = context.pool](const LaunchArgs& args) {
    AttentionForward a = attention;
    a.offset = std::clamp<int64_t>(*src<int64_t>(args, 3), -a.sizes.queries, a.sizes.keys);
    a.q = src<float>(args, 0);
    a.k = src<float>(args, 1);
    a.v = src<float>(args, 2);
    a.o = dst<float>(args, 0);
    attend(a, pool, args.workspace);
  };
  return make_kernel(launch, attend_bytes(attention.sizes, context.pool.threads()));
}

}  // namespace

void define_cached_attention(KernelTable& table) { table.add("cached_attention", prepare_cached_attention); }

}  // namespace plimsoll::backends::cpu
