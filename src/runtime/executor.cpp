#include "runtime/executor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

namespace plimsoll::runtime {
namespace {

using program::Instruction;
using program::Kind;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Status check_executable(const program::Program& program) {
  for (const program::Segment& segment : program.segments)
    for (const Instruction& instruction : segment.instructions)
      if (instruction.kind == Kind::kRead || instruction.kind == Kind::kWrite)
        return unsupported("[executor] segment '" + segment.name + "' has " + std::string(to_string(instruction.kind)) +
                           " '" + instruction.label + "', but there are no lanes to the disk");
  return {};
}

Executor::Executor(const program::Program& program, Binding binding) : program_(program), binding_(std::move(binding)) {
  PLIMSOLL_CHECK(binding_.kernels.size() == program.kernels.size(), binding_.kernels.size());
  const Status status = check_executable(program);
  PLIMSOLL_CHECK(status.ok(), program.name);
  for (size_t space = 0; space < program.arena_bytes.size(); ++space)
    PLIMSOLL_CHECK(program.arena_bytes[space] == 0 || binding_.arenas[space] != nullptr, "no arena in space ", space);
  size_t most_srcs = 0, most_dsts = 0;
  for (const program::Kernel& kernel : program.kernels) {
    most_srcs = std::max(most_srcs, kernel.srcs.size());
    most_dsts = std::max(most_dsts, kernel.dsts.size());
  }
  srcs_.resize(most_srcs);
  dsts_.resize(most_dsts);
}

std::byte* Executor::address(int residence, int64_t iteration) const {
  const program::Residence& r = program_.residences[static_cast<size_t>(residence)];
  return binding_.arenas[static_cast<size_t>(r.space)] + r.offset_bytes + iteration % r.slots * r.stride_bytes;
}

std::byte* Executor::address(const program::Operand& operand, int64_t iteration) const {
  const program::Residence& r = program_.residences[static_cast<size_t>(operand.residence)];
  return address(operand.residence, iteration) + (operand.begin_bytes - r.begin_bytes);
}

Outcome Executor::run(FeedSource feed, TraceSink* trace) {
  for (size_t s = 0; s < program_.segments.size(); ++s) {
    const program::Segment& segment = program_.segments[s];
    for (int64_t iteration = 0; iteration < segment.trips; ++iteration) {
      // One thread executes all lanes of this machine, so the order of the list, which respects every wait, will do.
      for (size_t i = 0; i < segment.instructions.size(); ++i) {
        const InstructionId id{static_cast<int>(s), static_cast<int>(i)};
        const int64_t start = trace == nullptr ? 0 : now_ns();
        if (!run_one(id, iteration, feed)) return {.is_finite = false, .failed_check = id};
        if (trace != nullptr && runs_in(segment.instructions[i].when, iteration, segment.trips))
          trace->span(id.segment, id.index, iteration, static_cast<int>(segment.instructions[i].lane), start, now_ns());
      }
    }
  }
  return {};
}

bool Executor::run_one(InstructionId id, int64_t iteration, FeedSource feed) {
  const program::Segment& segment = program_.segments[static_cast<size_t>(id.segment)];
  const Instruction& instruction = segment.instructions[static_cast<size_t>(id.index)];
  if (!runs_in(instruction.when, iteration, segment.trips)) return true;
  const auto bytes_of = [](const program::Operand& o) { return o.end_bytes - o.begin_bytes; };
  switch (instruction.kind) {
    case Kind::kCompute: launch(instruction, iteration); return true;
    case Kind::kFeed: {
      const program::Operand& to = instruction.operands[0];
      binding_.backend->copy(address(to, iteration), feed(id, iteration), bytes_of(to));
      return true;
    }
    case Kind::kCopy: {
      const program::Operand& from = instruction.operands[0];
      binding_.backend->copy(address(instruction.operands[1], iteration), address(from, iteration), bytes_of(from));
      return true;
    }
    case Kind::kZero: {
      const program::Operand& to = instruction.operands[0];
      binding_.backend->zero(address(to, iteration), bytes_of(to));
      return true;
    }
    case Kind::kCheck: {
      float number = 0;
      std::memcpy(&number, address(instruction.operands[0], iteration), sizeof number);
      return std::isfinite(number);
    }
    case Kind::kRead:
    case Kind::kWrite: break;  // refused when it was bound
  }
  return false;
}

void Executor::launch(const Instruction& instruction, int64_t iteration) {
  const auto index = static_cast<size_t>(instruction.kernel);
  const program::Kernel& kernel = program_.kernels[index];
  size_t next = 0;
  for (size_t i = 0; i < kernel.srcs.size(); ++i) srcs_[i] = address(instruction.operands[next++], iteration);
  for (size_t i = 0; i < kernel.dsts.size(); ++i) {
    const program::Operand& dst = instruction.operands[next++];
    dsts_[i] = address(dst, iteration);
    if (dst.role == program::Role::kAccumulate && iteration == 0)
      binding_.backend->zero(dsts_[i], dst.end_bytes - dst.begin_bytes);
  }
  void* workspace = next < instruction.operands.size() ? address(instruction.operands[next], iteration) : nullptr;
  binding_.kernels[index]->launch(
      {std::span(srcs_).first(kernel.srcs.size()), std::span(dsts_).first(kernel.dsts.size()), workspace});
}

}  // namespace plimsoll::runtime
