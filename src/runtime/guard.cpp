#include "runtime/guard.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/hash.h"
#include "memory/poison.h"

namespace plimsoll::runtime {
namespace {

using program::Instruction;
using program::Operand;
using program::Point;
using program::Program;
using program::Residence;
using program::Role;

class Guard {
 public:
  Guard(Executor& executor, std::span<std::byte> arena, Space space, FeedSource feed, const GuardOptions& options)
      : executor_(executor),
        program_(executor.program()),
        arena_(arena),
        space_(space),
        feed_(feed),
        options_(options) {
    std::vector<bool> is_state(program_.residences.size());
    for (const program::StateEntry& entry : program_.entry_state) is_state[static_cast<size_t>(entry.residence)] = true;
    for (size_t i = 0; i < program_.residences.size(); ++i) {
      const Residence& r = program_.residences[i];
      if (r.space != space_) continue;
      if (is_state[i]) {
        touch(r.extent_end());
        continue;
      }
      poison(r);
      births_.emplace(r.first, &r);
      deaths_.emplace(r.last, &r);
    }
  }

  GuardReport run() {
    for (size_t s = 0; s < program_.segments.size(); ++s) {
      const program::Segment& segment = program_.segments[s];
      for (int64_t iteration = 0; iteration < segment.trips; ++iteration) {
        for (size_t i = 0; i < segment.instructions.size(); ++i) {
          const InstructionId id{static_cast<int>(s), static_cast<int>(i)};
          change_lives(id, iteration, segment.trips);
          if (!runs_in(segment.instructions[i].when, iteration, segment.trips)) continue;
          if (!run_one(id, iteration)) return std::move(report_);
        }
      }
    }
    return std::move(report_);
  }

 private:
  void touch(int64_t end) { report_.executed_peak_bytes = std::max(report_.executed_peak_bytes, end); }

  void poison(const Residence& r) {
    for (int slot = 0; slot < r.slots; ++slot) {
      const int64_t begin = r.offset_bytes + slot * r.stride_bytes;
      memory::fill(arena_.subspan(static_cast<size_t>(begin), static_cast<size_t>(r.size_bytes())), memory::kPoison);
    }
  }

  /// Poisons what dies and what is born before this instruction. What spans the whole segment lives from its first
  /// iteration to its last.
  void change_lives(InstructionId id, int64_t iteration, int64_t trips) {
    const Point point{id.segment, id.index};
    const auto spans = [&](const Residence& r) {
      const auto count = static_cast<int>(program_.segments[static_cast<size_t>(id.segment)].instructions.size());
      return r.first <= Point{id.segment, 0} && r.last >= Point{id.segment, count};
    };
    for (auto [it, end] = deaths_.equal_range(point); it != end; ++it) poison(*it->second);
    for (auto [it, end] = births_.equal_range(point); it != end; ++it)
      if (trips == 1 || iteration == 0 || !spans(*it->second)) poison(*it->second);
  }

  bool run_one(InstructionId id, int64_t iteration) {
    const Instruction& instruction =
        program_.segments[static_cast<size_t>(id.segment)].instructions[static_cast<size_t>(id.index)];
    const uint64_t before = options_.checks_outside ? hash_outside(instruction, iteration) : 0;
    const bool is_finite = executor_.run_one(id, iteration, feed_);
    if (options_.checks_outside && hash_outside(instruction, iteration) != before && report_.fault.empty())
      report_.fault = "'" + instruction.label + "' changed bytes that it does not own";
    for (const Operand& operand : instruction.operands) inspect(instruction, operand, iteration);
    if (!is_finite) report_.outcome = {.is_finite = false, .failed_check = id};
    return is_finite;
  }

  std::span<std::byte> bytes_of(const Operand& operand, int64_t iteration) const {
    const Residence& r = program_.residences[static_cast<size_t>(operand.residence)];
    const int64_t begin = r.offset_bytes + iteration % r.slots * r.stride_bytes + operand.begin_bytes - r.begin_bytes;
    return arena_.subspan(static_cast<size_t>(begin), static_cast<size_t>(operand.end_bytes - operand.begin_bytes));
  }

  /// Books how far into an operand something was written.
  void inspect(const Instruction& instruction, const Operand& operand, int64_t iteration) {
    if (operand.role == Role::kRead || program_.residences[static_cast<size_t>(operand.residence)].space != space_)
      return;
    const std::span<std::byte> bytes = bytes_of(operand, iteration);
    const int64_t extent = memory::touched_extent(bytes, memory::kPoison);
    // Which part of a workspace a kernel uses may depend on which worker took a task: any of it stands for all.
    const bool is_workspace = operand.role == Role::kWorkspace;
    touch(bytes.data() - arena_.data() + (is_workspace && extent > 0 ? static_cast<int64_t>(bytes.size()) : extent));
    if (!is_workspace && extent < static_cast<int64_t>(bytes.size()) && report_.fault.empty())
      report_.fault = "'" + instruction.label + "' left the end of an output unwritten";
  }

  /// A hash of every byte that the instruction may not change.
  uint64_t hash_outside(const Instruction& instruction, int64_t iteration) const {
    std::vector<std::pair<int64_t, int64_t>> written;
    for (const Operand& operand : instruction.operands) {
      if (operand.role == Role::kRead || program_.residences[static_cast<size_t>(operand.residence)].space != space_)
        continue;
      const auto bytes = bytes_of(operand, iteration);
      const int64_t begin = bytes.data() - arena_.data();
      written.emplace_back(begin, begin + static_cast<int64_t>(bytes.size()));
    }
    std::sort(written.begin(), written.end());
    written.emplace_back(arena_.size(), arena_.size());
    uint64_t hash = 0;
    int64_t from = 0;
    for (const auto& [begin, end] : written) {
      if (begin > from)
        hash =
            stable_hash({reinterpret_cast<const char*>(arena_.data()) + from, static_cast<size_t>(begin - from)}, hash);
      from = std::max(from, end);
    }
    return hash;
  }

  Executor& executor_;
  const Program& program_;
  std::span<std::byte> arena_;
  Space space_;
  FeedSource feed_;
  const GuardOptions& options_;
  std::multimap<Point, const Residence*> births_;
  std::multimap<Point, const Residence*> deaths_;
  GuardReport report_;
};

}  // namespace

GuardReport run_guarded(Executor& executor, std::span<std::byte> arena, Space space, FeedSource feed,
                        const GuardOptions& options) {
  return Guard(executor, arena, space, feed, options).run();
}

}  // namespace plimsoll::runtime
