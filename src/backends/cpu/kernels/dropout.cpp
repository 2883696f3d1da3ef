// dropout: keeps or zeroes each element by a counter-based random number; no mask is stored.
#include <cmath>

#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"
#include "core/hash.h"
#include "core/philox.h"

namespace plimsoll::backends::cpu {
namespace {

/// Words below this, of the 24 bits that make a unit float, drop their element: exactly where word · 2^-24 < p.
uint32_t drop_below(double p) { return static_cast<uint32_t>(std::ceil(p * 0x1p24)); }

struct Dropout {
  uint64_t path_hash;
  uint32_t threshold;
  float scale;
  int64_t numel;

  /// Elements of one Philox block at a time: its four words belong to elements 4 · block … 4 · block + 3 of the batch.
  void apply(Range range, const LaunchArgs& args) const {
    const auto* x = src<float>(args, 0);
    auto* y = dst<float>(args, 0);
    const Philox random(static_cast<uint64_t>(*src<int64_t>(args, 1)) ^ path_hash);
    const auto step = static_cast<uint64_t>(*src<int64_t>(args, 2));
    const auto first = static_cast<uint64_t>(*src<int64_t>(args, 3)) * static_cast<uint64_t>(numel);
    for (int64_t i = range.begin; i < range.end;) {
      const uint64_t element = first + static_cast<uint64_t>(i);
      const Philox::Block words = random(element / 4, step);
      for (uint64_t word = element % 4; word < 4 && i < range.end; ++word, ++i)
        y[i] = words[word] >> 8 >= threshold ? x[i] * scale : 0.0f;
    }
  }
};

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {1, 2, 3}));
  const double p = kernel.attributes.get_float("p");
  const Dropout dropout{.path_hash = stable_hash(kernel.attributes.get_string("path")),
                        .threshold = drop_below(p),
                        .scale = static_cast<float>(1 / (1 - p)),
                        .numel = kernel.dsts[0].numel()};
  constexpr int64_t kCost = 8;  // a quarter of ten rounds an element
  return make_kernel(
      [dropout, cut = cut_by_cost(dropout.numel, kCost, kLineElements), &pool = context.pool](const LaunchArgs& args) {
        run(pool, cut, [&](Range range, int64_t) { dropout.apply(range, args); });
      });
}

}  // namespace

void define_dropout(KernelTable& table) { table.add("dropout", prepare); }

}  // namespace plimsoll::backends::cpu
