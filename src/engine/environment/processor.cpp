#include "engine/environment/processor.h"

namespace plimsoll::engine {

Status check_processor(hardware::InstructionSets sets) {
  if (sets.has(hardware::InstructionSet::kAvx2)) return {};
  return unsupported(
      "this processor has no AVX2 (instruction sets: " + (sets.empty() ? "none known" : to_string(sets)) +
      "); expected an x86-64 processor with AVX2 (Intel Core since 2013, AMD since 2015)");
}

}  // namespace plimsoll::engine
