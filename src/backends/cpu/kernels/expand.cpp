// expand: one copy that reads elements again.
#include "backends/cpu/strided_copy.h"

namespace plimsoll::backends::cpu {
namespace {

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  return make_repeat_kernel(kernel, context);
}

}  // namespace

void define_expand(KernelTable& table) { table.add("expand", prepare); }

}  // namespace plimsoll::backends::cpu
