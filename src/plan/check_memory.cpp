// Who is where and when: residences against each other, the arenas, and arenas against budgets.
#include <algorithm>
#include <map>

#include "plan/check_parts.h"

namespace plimsoll::plan::check {
namespace {

using program::Program;
using program::Residence;

std::string name_of(const Program& program, int residence) {
  return "residence " + std::to_string(residence) + " '" + program.buffers[program.residences[residence].buffer].name +
         "'";
}

/// The slots that live at one moment of a sweep over time, by address. As they are disjoint, one that comes can only
/// overlap its neighbours.
class LiveSlots {
 public:
  explicit LiveSlots(const Program& program) : program_(program) {}

  Status add(int index) {
    const Residence& residence = program_.residences[index];
    for (int slot = 0; slot < residence.slots; ++slot) {
      const int64_t begin = residence.offset_bytes + slot * residence.stride_bytes;
      const int64_t end = begin + residence.size_bytes();
      const auto next = slots_.lower_bound(begin);
      if (next != slots_.end() && next->first < end) return overlap(index, next->second.residence);
      if (next != slots_.begin() && std::prev(next)->second.end > begin)
        return overlap(index, std::prev(next)->second.residence);
      slots_.emplace(begin, Slot{end, index});
    }
    return {};
  }

  void remove(int index) {
    const Residence& residence = program_.residences[index];
    for (int slot = 0; slot < residence.slots; ++slot)
      slots_.erase(residence.offset_bytes + slot * residence.stride_bytes);
  }

 private:
  struct Slot {
    int64_t end;
    int residence;
  };

  Error overlap(int a, int b) const {
    return invalid_argument("[check] " + name_of(program_, a) + " and " + name_of(program_, b) + " share bytes in " +
                            std::string(to_string(program_.residences[a].space)) + " while both live");
  }

  const Program& program_;
  std::map<int64_t, Slot> slots_;
};

Status check_space(const Program& program, const Timeline& timeline, Space space) {
  struct Event {
    int time;
    bool is_start;  ///< ends come first: lifetimes are half-open
    int residence;
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  for (int i = 0; i < std::ssize(program.residences); ++i) {
    const Residence& residence = program.residences[i];
    const int first = timeline.at(residence.first);
    const int last = timeline.at(residence.last);
    if (residence.space != space || residence.size_bytes() == 0 || first >= last) continue;
    events.push_back({first, true, i});
    events.push_back({last, false, i});
  }
  std::ranges::sort(events);
  LiveSlots live(program);
  for (const Event& event : events) {
    if (event.is_start)
      PLIMSOLL_RETURN_IF_ERROR(live.add(event.residence));
    else
      live.remove(event.residence);
  }
  return {};
}

}  // namespace

Status check_memory(const Program& program) {
  for (int i = 0; i < std::ssize(program.residences); ++i) {
    const Residence& residence = program.residences[i];
    const int64_t arena = program.arena_bytes[static_cast<size_t>(residence.space)];
    if (residence.extent_end() > arena)
      return invalid_argument("[check] " + name_of(program, i) + " ends at " + std::to_string(residence.extent_end()) +
                              ", beyond the " + std::string(to_string(residence.space)) + " arena of " +
                              std::to_string(arena) + " bytes");
  }
  const Timeline timeline(program);
  for (int space = 0; space < kSpaceCount; ++space)
    PLIMSOLL_RETURN_IF_ERROR(check_space(program, timeline, static_cast<Space>(space)));
  return {};
}

}  // namespace plimsoll::plan::check

namespace plimsoll::plan {

Status check_budgets(const program::Program& program, const Budgets& budgets) {
  // Arenas are reserved whole: what fits as a whole fits at every instruction.
  for (size_t space = 0; space < budgets.bytes.size(); ++space)
    if (program.arena_bytes[space] > budgets.bytes[space])
      return invalid_argument("[check] the " + std::string(to_string(static_cast<Space>(space))) + " arena has " +
                              std::to_string(program.arena_bytes[space]) + " bytes; the budget is " +
                              std::to_string(budgets.bytes[space]));
  return {};
}

}  // namespace plimsoll::plan
