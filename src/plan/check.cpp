#include "plan/check.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "plan/check_parts.h"
#include "program/structure.h"

namespace plimsoll::plan {
namespace check {

using program::Operand;
using program::Program;
using program::Residence;
using program::Segment;

std::string describe(const Program& program, Place place) {
  const Segment& segment = program.segments[place.segment];
  std::string out = "[check] segment " + std::to_string(place.segment) + " '" + segment.name + "' instruction " +
                    std::to_string(place.index);
  const std::string& label = segment.instructions[place.index].label;
  return label.empty() ? out : out + " '" + label + "'";
}

std::string describe(const Program& program, Place place, size_t operand) {
  const Residence& residence = program.residences[at(program, place).operands[operand].residence];
  return describe(program, place) + " operand " + std::to_string(operand) + " '" +
         program.buffers[residence.buffer].name + "'";
}

std::string describe_range(int64_t begin, int64_t end) {
  return "bytes [" + std::to_string(begin) + "," + std::to_string(end) + ")";
}

Timeline::Timeline(const Program& program) : starts_{0} {
  for (const Segment& segment : program.segments)
    starts_.push_back(starts_.back() + static_cast<int>(segment.instructions.size()));
}

namespace {
/// More instructions, times iterations, are refused: some seconds.
constexpr int64_t kMostSteps = 20'000'000;
constexpr int64_t kMostSlots = 1'000'000;
}  // namespace

int64_t iterations_to_run(const Program& program, int index) {
  const Segment& segment = program.segments[index];
  int64_t round = 1;
  for (const program::Instruction& instruction : segment.instructions)
    for (const Operand& operand : instruction.operands) {
      round = std::lcm(round, int64_t{program.residences[operand.residence].slots});
      if (round >= std::min(segment.trips, kMostSteps)) return segment.trips;
    }
  // A first one, then two in each slot that are neither first nor last, then a last one that has its true slot.
  const int64_t least = round + 3;
  if (segment.trips <= least) return segment.trips;
  return least + (segment.trips - least) % round;
}

int64_t address_of(const Residence& residence, const Operand& operand, int64_t iteration) {
  return residence.offset_bytes + iteration % residence.slots * residence.stride_bytes + operand.begin_bytes -
         residence.begin_bytes;
}

namespace {

/// Slots that come round at many different rates would need too many iterations.
Status check_effort(const Program& program) {
  int64_t slots = 0;
  for (const Residence& residence : program.residences) slots += residence.slots;
  if (slots > kMostSlots)
    return invalid_argument("[check] the residences have " + std::to_string(slots) + " slots; at most " +
                            std::to_string(kMostSlots) + " can be followed");
  int64_t steps = 0;
  for (int i = 0; i < std::ssize(program.segments); ++i) {
    const auto size = checked_multiply(iterations_to_run(program, i), std::ssize(program.segments[i].instructions));
    if (!size || *size > kMostSteps - steps)
      return invalid_argument("[check] segment " + std::to_string(i) + " '" + program.segments[i].name +
                              "' has too many slots to follow through " + std::to_string(program.segments[i].trips) +
                              " iterations");
    steps += *size;
  }
  return {};
}

Status check_state_entry(const Program& program, const Timeline& timeline, const std::string& what, int index) {
  const Residence& residence = program.residences[index];
  const auto refusal = [&](const std::string& why) {
    return invalid_argument("[check] " + what + " residence " + std::to_string(index) + " '" +
                            program.buffers[residence.buffer].name + "' " + why);
  };
  if (residence.slots != 1) return refusal("has several slots; state has one");
  if (timeline.at(residence.first) != 0 || timeline.at(residence.last) != timeline.end())
    return refusal("does not live from the start of the program to its end");
  return {};
}

/// Copies of the same bytes in two residences must be of one version, or one of them is stale.
Status check_copies(const Program& program, const std::vector<program::StateEntry>& state, const std::string& what) {
  std::map<int, std::vector<program::StateEntry>> by_buffer;
  for (const program::StateEntry& entry : state) {
    const Residence& residence = program.residences[entry.residence];
    std::vector<program::StateEntry>& others = by_buffer[residence.buffer];
    for (const program::StateEntry& other : others) {
      const Residence& there = program.residences[other.residence];
      if (other.version != entry.version && there.begin_bytes < residence.end_bytes &&
          residence.begin_bytes < there.end_bytes)
        return invalid_argument("[check] " + what + " has '" + program.buffers[residence.buffer].name +
                                "' in versions " + std::to_string(other.version) + " and " +
                                std::to_string(entry.version));
    }
    others.push_back(entry);
  }
  return {};
}

/// What they hold at the end is for check_content.
Status check_outputs(const Program& program) {
  const Timeline timeline(program);
  for (const program::Output& output : program.outputs) {
    const Residence& residence = program.residences[output.residence];
    const auto refusal = [&](const std::string& why) {
      return invalid_argument("[check] output '" + output.name + "' in residence " + std::to_string(output.residence) +
                              " '" + program.buffers[residence.buffer].name + "' " + why);
    };
    if (residence.slots != 1) return refusal("has several slots; an output has one");
    if (timeline.at(residence.last) != timeline.end()) return refusal("does not live to the end of the program");
    if (residence.space == Space::kDisk) return refusal("is on disk, where the host cannot read it");
  }
  return {};
}

/// What the contents are at the end is for check_content.
Status check_state(const Program& program) {
  const Timeline timeline(program);
  std::map<int, int> entry_versions;
  for (const program::StateEntry& entry : program.entry_state) {
    PLIMSOLL_RETURN_IF_ERROR(check_state_entry(program, timeline, "entry state", entry.residence));
    if (!entry_versions.emplace(entry.residence, entry.version).second)
      return invalid_argument("[check] entry state names residence " + std::to_string(entry.residence) + " twice");
  }
  const size_t count = entry_versions.size();
  for (const program::StateEntry& entry : program.exit_state) {
    const auto found = entry_versions.find(entry.residence);
    if (found == entry_versions.end())
      return invalid_argument("[check] exit state names residence " + std::to_string(entry.residence) +
                              ", which is not in the entry state or named twice");
    if (entry.version < found->second)
      return invalid_argument("[check] exit state has an older version of residence " +
                              std::to_string(entry.residence) + " than the entry state");
    entry_versions.erase(found);
  }
  if (!entry_versions.empty())
    return invalid_argument("[check] exit state has " + std::to_string(program.exit_state.size()) + " of the " +
                            std::to_string(count) + " residences of the entry state; missing is residence " +
                            std::to_string(entry_versions.begin()->first));
  PLIMSOLL_RETURN_IF_ERROR(check_copies(program, program.entry_state, "entry state"));
  return check_copies(program, program.exit_state, "exit state");
}

}  // namespace
}  // namespace check

Status check_program(const program::Program& program, const Budgets& budgets) {
  PLIMSOLL_RETURN_IF_ERROR(program::check_structure(program));
  PLIMSOLL_RETURN_IF_ERROR(check::check_effort(program));
  PLIMSOLL_RETURN_IF_ERROR(check::check_instructions(program));
  PLIMSOLL_RETURN_IF_ERROR(check::check_memory(program));
  PLIMSOLL_RETURN_IF_ERROR(check_budgets(program, budgets));
  PLIMSOLL_RETURN_IF_ERROR(check::check_state(program));
  PLIMSOLL_RETURN_IF_ERROR(check::check_outputs(program));
  PLIMSOLL_RETURN_IF_ERROR(check::check_recomputation(program));
  PLIMSOLL_RETURN_IF_ERROR(check::check_content(program));
  return check::check_order(program);
}

}  // namespace plimsoll::plan
