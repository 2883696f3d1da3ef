#include "engine/diagnose.h"

#include <cmath>

namespace plimsoll::engine {
namespace {

bool is_bad(const std::byte* data, const TensorDesc& desc) {
  if (desc.dtype != DType::kF32) return false;
  const auto* values = reinterpret_cast<const float*>(data);
  for (int64_t i = 0; i < desc.numel(); ++i)
    if (std::isnan(values[i]) || (std::isinf(values[i]) && values[i] > 0)) return true;
  return false;
}

/// The index of the first bad output of an instruction that has just run, or -1.
int find_bad_output(Runner& runner, const program::Instruction& instruction, int64_t iteration) {
  if (instruction.kind != program::Kind::kCompute) return -1;
  const program::Kernel& kernel = runner.executor().program().kernels[static_cast<size_t>(instruction.kernel)];
  for (size_t i = 0; i < kernel.dsts.size(); ++i) {
    const program::Operand& operand = instruction.operands[kernel.srcs.size() + i];
    if (is_bad(runner.executor().address(operand, iteration), kernel.dsts[i])) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

std::string find_first_non_finite(Session& session, runtime::InstructionId failed_check) {
  for (const TensorView& view : session.parameters())
    if (is_bad(view.data, view.desc)) return "parameter '" + view.name + "'";
  for (const TensorView& view : session.optimizer_state())
    if (is_bad(view.data, view.desc)) return "optimizer state '" + view.name + "'";
  Runner& runner = session.train();
  const program::Program& program = runner.executor().program();
  const auto feed = [&](runtime::InstructionId id, int64_t iteration) { return runner.feed(id, iteration); };
  for (int s = 0; s <= failed_check.segment; ++s) {
    const program::Segment& segment = program.segments[static_cast<size_t>(s)];
    for (int64_t iteration = 0; iteration < segment.trips; ++iteration) {
      for (size_t i = 0; i < segment.instructions.size(); ++i) {
        const runtime::InstructionId id{s, static_cast<int>(i)};
        const program::Instruction& instruction = segment.instructions[i];
        if (!program::runs_in(instruction.when, iteration, segment.trips)) continue;
        if (!runner.executor().run_one(id, iteration, feed)) return "the " + instruction.label;
        if (const int output = find_bad_output(runner, instruction, iteration); output >= 0)
          return "output " + std::to_string(output) + " of " +
                 program.kernels[static_cast<size_t>(instruction.kernel)].op + " '" + instruction.label + "'";
      }
    }
  }
  return "the check";
}

}  // namespace plimsoll::engine
