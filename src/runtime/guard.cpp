#include "runtime/guard.h"

#include <algorithm>
#include <array>
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
    std::vector<Written> written = find_written(instruction, iteration);
    std::vector<Kept> fences = raise_fences({id.segment, id.index}, instruction, iteration);
    for (const Written& w : written)
      if (w.is_fresh) memory::fill(w.bytes, memory::kPoison);
    const std::vector<Kept> old = keep_old(written);
    const uint64_t before = options_.checks_outside ? hash_outside(instruction, iteration) : 0;
    const bool is_finite = executor_.run_one(id, iteration, feed_);
    const bool is_outside_whole = !options_.checks_outside || hash_outside(instruction, iteration) == before;
    measure(written, memory::kPoison);
    if (std::any_of(written.begin(), written.end(), [](const Written& w) { return w.looks_short(); })) {
      for (const Kept& kept : old) kept.put_back();
      for (const Written& w : written)
        if (w.is_fresh) memory::fill(w.bytes, memory::kOtherPoison);
      executor_.run_one(id, iteration, feed_);
      measure(written, memory::kOtherPoison);
    }
    const bool fences_hold = lower_fences(fences);
    for (const Written& w : written) book(instruction, w);
    if (!fences_hold) report(instruction, "wrote beyond its workspace");
    if (!is_outside_whole) report(instruction, "changed bytes that it does not own");
    if (!is_finite) report_.outcome = {.is_finite = false, .failed_check = id};
    return is_finite;
  }

  void report(const Instruction& instruction, const char* what) {
    if (report_.fault.empty()) report_.fault = "'" + instruction.label + "' " + what;
  }

  /// Bytes that an instruction writes.
  struct Written {
    std::span<std::byte> bytes;
    bool is_workspace = false;
    bool is_fresh = false;  ///< nothing is read there before it is written, so it may hold any pattern
    int64_t extent = 0;     ///< how far into it something was written, as far as is known

    bool looks_short() const {
      return is_fresh && (is_workspace ? extent == 0 : extent < static_cast<int64_t>(bytes.size()));
    }
  };

  std::vector<Written> find_written(const Instruction& instruction, int64_t iteration) const {
    std::vector<Written> out;
    for (const Operand& operand : instruction.operands) {
      if (operand.role == Role::kRead || !is_here(operand)) continue;
      const auto bytes = bytes_of(operand, iteration);
      const bool is_workspace = operand.role == Role::kWorkspace;
      const auto shares = [&](const Operand& other) {
        if (&other == &operand || !is_here(other)) return false;
        const auto there = bytes_of(other, iteration);
        return there.data() < bytes.data() + bytes.size() && bytes.data() < there.data() + there.size();
      };
      const bool is_fresh = (is_workspace || operand.role == Role::kWrite) &&
                            std::none_of(instruction.operands.begin(), instruction.operands.end(), shares);
      out.push_back({bytes, is_workspace, is_fresh, is_fresh ? 0 : static_cast<int64_t>(bytes.size())});
    }
    return out;
  }

  bool is_here(const Operand& operand) const {
    return program_.residences[static_cast<size_t>(operand.residence)].space == space_;
  }

  std::span<std::byte> bytes_of(const Operand& operand, int64_t iteration) const {
    const Residence& r = program_.residences[static_cast<size_t>(operand.residence)];
    const int64_t begin = r.offset_bytes + iteration % r.slots * r.stride_bytes + operand.begin_bytes - r.begin_bytes;
    return arena_.subspan(static_cast<size_t>(begin), static_cast<size_t>(operand.end_bytes - operand.begin_bytes));
  }

  /// Bytes of the arena and what they held.
  struct Kept {
    std::span<std::byte> bytes;
    std::vector<std::byte> content;

    explicit Kept(std::span<std::byte> from) : bytes(from), content(from.begin(), from.end()) {}
    void put_back() const { std::copy(content.begin(), content.end(), bytes.begin()); }
  };

  /// What a second run of the kernel must find as the first one did.
  static std::vector<Kept> keep_old(const std::vector<Written>& written) {
    std::vector<Kept> out;
    if (std::none_of(written.begin(), written.end(), [](const Written& w) { return w.is_fresh; })) return out;
    for (const Written& w : written)
      if (!w.is_fresh) out.emplace_back(w.bytes);
    return out;
  }

  static void measure(std::vector<Written>& written, std::byte pattern) {
    for (Written& w : written)
      if (w.is_fresh) w.extent = std::max(w.extent, memory::touched_extent(w.bytes, pattern));
  }

  /// Which part of a workspace a kernel uses may depend on which worker took a task: any of it stands for all.
  void book(const Instruction& instruction, const Written& w) {
    const auto size = static_cast<int64_t>(w.bytes.size());
    const int64_t extent = w.is_workspace && w.extent > 0 ? size : w.extent;
    if (extent > 0) touch(w.bytes.data() - arena_.data() + extent);
    if (!w.is_workspace && extent < size) report(instruction, "left the end of an output unwritten");
  }

  std::vector<Kept> raise_fences(Point point, const Instruction& instruction, int64_t iteration) {
    std::vector<Kept> out;
    for (const Operand& operand : instruction.operands) {
      if (operand.role != Role::kWorkspace || !is_here(operand)) continue;
      for (const std::span<std::byte> beside : find_free_beside(point, bytes_of(operand, iteration)))
        if (!beside.empty()) out.emplace_back(beside);
    }
    for (const Kept& fence : out) memory::fill(fence.bytes, memory::kFence);
    report_.fences += static_cast<int64_t>(out.size());
    return out;
  }

  bool lower_fences(const std::vector<Kept>& fences) const {
    bool hold = true;
    for (const Kept& fence : fences) {
      hold = hold && !memory::find_touched(fence.bytes, memory::kFence);
      fence.put_back();
    }
    return hold;
  }

  /// Up to kFenceBytes before and after `bytes` that no residence has at that point.
  std::array<std::span<std::byte>, 2> find_free_beside(Point point, std::span<std::byte> bytes) const {
    const int64_t begin = bytes.data() - arena_.data();
    const int64_t end = begin + static_cast<int64_t>(bytes.size());
    int64_t low = std::max<int64_t>(0, begin - memory::kFenceBytes);
    int64_t high = std::min(static_cast<int64_t>(arena_.size()), end + memory::kFenceBytes);
    for (const Residence& r : program_.residences) {
      if (r.space != space_ || point < r.first || r.last <= point) continue;
      if (r.extent_end() <= begin)
        low = std::max(low, r.extent_end());
      else if (r.offset_bytes >= end)
        high = std::min(high, r.offset_bytes);
    }
    const auto range = [&](int64_t from, int64_t to) {
      return arena_.subspan(static_cast<size_t>(from), static_cast<size_t>(std::max<int64_t>(0, to - from)));
    };
    return {range(low, begin), range(end, high)};
  }

  /// A hash of every byte that the instruction may not change.
  uint64_t hash_outside(const Instruction& instruction, int64_t iteration) const {
    std::vector<std::pair<int64_t, int64_t>> written;
    for (const Operand& operand : instruction.operands) {
      if (operand.role == Role::kRead || !is_here(operand)) continue;
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
