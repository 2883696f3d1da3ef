// elementwise_chain: all steps on one piece of the value before the next.
#include "backends/cpu/chain_rows.h"
#include "backends/cpu/cut.h"

namespace plimsoll::backends::cpu {
namespace {

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  const ops::Chain chain = ops::chain_of(kernel.attributes);
  PLIMSOLL_RETURN_IF_ERROR(check_chain_operands(kernel, chain, 1));
  ChainRows rows(chain, kernel, kernel.dsts[0], {.first_src = 1, .first_kept = 1});
  const Cut cut = cut_by_cost(kernel.dsts[0].numel(), rows.cost(), kLineElements);
  return make_kernel([rows = std::move(rows), cut, &pool = context.pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) {
      rows.apply(args,
                 {src<float>(args, 0) + range.begin, dst<float>(args, 0) + range.begin, range.begin, range.size()});
    });
  });
}

}  // namespace

void define_elementwise_chain(KernelTable& table) { table.add("elementwise_chain", prepare); }

}  // namespace plimsoll::backends::cpu
