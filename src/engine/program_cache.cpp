#include "engine/program_cache.h"

#include <algorithm>

namespace plimsoll::engine {
namespace {

/// What the allocator and a map's node add to an element, and what a kernel holds beside its description.
constexpr int64_t kNodeBytes = 48;
constexpr int64_t kKernelBytes = 512;

int64_t heap_bytes(const std::string& text) { return text.capacity() > 15 ? static_cast<int64_t>(text.capacity()) : 0; }

template <class T, class BytesOf>
int64_t heap_bytes(const std::vector<T>& items, BytesOf bytes_of) {
  auto bytes = static_cast<int64_t>(items.capacity() * sizeof(T));
  for (const T& item : items) bytes += bytes_of(item);
  return bytes;
}

template <class T>
int64_t heap_bytes(const std::vector<T>& items) {
  return static_cast<int64_t>(items.capacity() * sizeof(T));
}

template <class T, class Less>
int64_t heap_bytes(const std::map<std::string, T, Less>& items) {
  int64_t bytes = 0;
  for (const auto& [name, item] : items) bytes += static_cast<int64_t>(sizeof(T)) + kNodeBytes + heap_bytes(name);
  return bytes;
}

int64_t heap_bytes(const program::Kernel& kernel) {
  int64_t bytes = heap_bytes(kernel.op) + heap_bytes(kernel.srcs) + heap_bytes(kernel.dsts) +
                  heap_bytes(kernel.accumulated_dsts) + heap_bytes(kernel.in_place);
  for ([[maybe_unused]] const auto& attribute : kernel.attributes) bytes += kNodeBytes + 64;
  return bytes;
}

int64_t heap_bytes(const program::Program& p) {
  const auto of_buffer = [](const program::Buffer& b) { return heap_bytes(b.name) + heap_bytes(b.origin); };
  const auto of_instruction = [](const program::Instruction& i) {
    return heap_bytes(i.operands) + heap_bytes(i.waits) + heap_bytes(i.label) + heap_bytes(i.reason);
  };
  const auto of_segment = [&](const program::Segment& s) { return heap_bytes(s.instructions, of_instruction); };
  const auto of_kernel = [](const program::Kernel& k) { return heap_bytes(k); };
  return heap_bytes(p.kernels, of_kernel) + heap_bytes(p.buffers, of_buffer) + heap_bytes(p.residences) +
         heap_bytes(p.segments, of_segment) + heap_bytes(p.entry_state) + heap_bytes(p.exit_state) +
         heap_bytes(p.outputs, [](const program::Output& o) { return heap_bytes(o.name); });
}

int64_t heap_bytes(const plan::Problem& problem) {
  const auto of_buffer = [](const plan::ProblemBuffer& b) { return heap_bytes(b.name) + heap_bytes(b.origin); };
  const auto of_instruction = [](const plan::ProblemInstruction& i) {
    return heap_bytes(i.uses) + heap_bytes(i.label) + heap_bytes(i.reason);
  };
  const auto of_segment = [&](const plan::ProblemSegment& s) { return heap_bytes(s.instructions, of_instruction); };
  return heap_bytes(problem.buffers, of_buffer) + heap_bytes(problem.segments, of_segment) +
         heap_bytes(problem.outputs, [](const plan::ProblemOutput& o) { return heap_bytes(o.name); });
}

}  // namespace

Bytes host_bytes(const CompiledProgram& compiled) {
  const Lowered& lowered = compiled.lowered;
  int64_t bytes = static_cast<int64_t>(sizeof(CompiledProgram) + sizeof(Runner));
  bytes += heap_bytes(compiled.program()) + heap_bytes(lowered.problem);
  bytes += heap_bytes(compiled.plan.holders, [](const plan::Plan::Holder& h) { return heap_bytes(h.name); });
  bytes += heap_bytes(lowered.outputs) + heap_bytes(lowered.state) + heap_bytes(lowered.feeds);
  for (const auto& [label, constant] : lowered.feeds) bytes += heap_bytes(constant);
  for (const auto& entry : lowered.kept)
    bytes += static_cast<int64_t>(sizeof(Catalogue::Entry)) + 2 * heap_bytes(entry->spec) + kKernelBytes;
  return {bytes};
}

ProgramCache::ProgramCache(Environment& environment, std::span<std::byte> arena, LowerOptions lowering,
                           ProgramCacheLimits limits)
    : environment_(environment), arena_(arena), lowering_(std::move(lowering)), limits_(limits) {
  PLIMSOLL_CHECK(limits_.count >= 1, limits_.count);
}

Result<Runner*> ProgramCache::find_or_compile(const std::string& key, MakeGraph make_graph) {
  const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
  if (it != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, it);
    return entries_.front().runner.get();
  }
  PLIMSOLL_ASSIGN(const graph::Graph graph, make_graph());
  const plan::PlanOptions planning{.budget = Bytes{static_cast<int64_t>(arena_.size())}};
  PLIMSOLL_ASSIGN(CompiledProgram compiled, compile(graph, environment_, lowering_, planning));
  ++compilations_;
  // The runner points into the program, which stays where it is in the list.
  Entry& entry = entries_.emplace_front(Entry{.key = key, .compiled = std::move(compiled)});
  entry.bytes = host_bytes(entry.compiled);
  entry.runner = std::make_unique<Runner>(entry.compiled, environment_, arena_.data());
  bytes_ += entry.bytes;
  while (count() > 1 && (count() > limits_.count || bytes_ > limits_.bytes)) drop_oldest();
  environment_.catalogue().release_unused();
  return entry.runner.get();
}

void ProgramCache::drop_oldest() {
  bytes_ -= entries_.back().bytes;
  entries_.pop_back();
}

}  // namespace plimsoll::engine
