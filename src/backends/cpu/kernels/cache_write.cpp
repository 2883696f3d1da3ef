// cache_write: fresh rows into a key/value cache.
#include <cstring>

#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

/// Extents of a cache [batch, room, …] and of what is written into it.
struct CacheSizes {
  int64_t batch;
  int64_t room;
  int64_t fresh;
  int64_t width;
};

/// A few rows a token: one thread's work is shorter than handing it over. Rows past the end are left out.
void write_rows(const CacheSizes& sizes, const float* fresh, int64_t position, float* cache) {
  const int64_t first = std::clamp<int64_t>(-position, 0, sizes.fresh);
  const int64_t last = std::clamp<int64_t>(sizes.room - position, first, sizes.fresh);
  if (first == last) return;
  for (int64_t b = 0; b < sizes.batch; ++b)
    std::memcpy(cache + (b * sizes.room + position + first) * sizes.width,
                fresh + (b * sizes.fresh + first) * sizes.width,
                static_cast<size_t>((last - first) * sizes.width) * sizeof(float));
}

Result<std::unique_ptr<Kernel>> prepare_cache_write(const program::Kernel& kernel, const CpuContext&) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {2}));
  const Shape& cache = kernel.dsts[0].shape;
  const CacheSizes sizes{.batch = cache[0],
                         .room = cache[1],
                         .fresh = kernel.srcs[1].shape[1],
                         .width = cache.numel_between(2, cache.rank())};
  const auto cache_bytes = static_cast<size_t>(kernel.dsts[0].size_bytes());
  return make_kernel([=](const LaunchArgs& args) {
    // The destination is the source's next version; only a caller outside a program gives another buffer.
    if (args.dsts[0] != args.srcs[0]) std::memcpy(args.dsts[0], args.srcs[0], cache_bytes);
    write_rows(sizes, src<float>(args, 1), *src<int64_t>(args, 2), dst<float>(args, 0));
  });
}

}  // namespace

void define_cache_write(KernelTable& table) { table.add("cache_write", prepare_cache_write); }

}  // namespace plimsoll::backends::cpu
