// That lanes and waits keep conflicting accesses in the list's order.
//
// Each run of an instruction gets a number that grows in the list's order, and a clock: by lane, the greatest number
// known to be done before it starts, through its lane and its waits. A number is before another if the other's clock
// has come past it. Lanes end every segment together, so each is looked at alone.
#include <algorithm>
#include <optional>

#include "plan/check_parts.h"
#include "plan/interval_map.h"

namespace plimsoll::plan::check {
namespace {

using program::Instruction;
using program::kLaneCount;
using program::Lane;
using program::Operand;
using program::Program;
using program::Residence;
using program::Segment;
using program::Wait;

using Clock = std::array<int64_t, kLaneCount>;

constexpr Clock kNothingDone = [] {
  Clock clock{};
  clock.fill(-1);
  return clock;
}();

/// Who has touched some bytes last: numbers, -1 for nobody. Earlier accesses come before these.
struct Access {
  int64_t writer = -1;
  Lane writer_lane = Lane::kCompute;
  Clock readers = kNothingDone;
};

class OrderCheck {
 public:
  OrderCheck(const Program& program, int index)
      : program_(program), index_(index), segment_(program.segments[index]), size_(std::ssize(segment_.instructions)) {
    for (int i = 0; i < size_; ++i) lanes_[static_cast<size_t>(segment_.instructions[i].lane)].push_back(i);
  }

  Status run() {
    PLIMSOLL_RETURN_IF_ERROR(check_waits());
    if (std::ranges::count_if(lanes_, [](const std::vector<int>& lane) { return !lane.empty(); }) < 2) return {};
    clocks_.resize(2 * size_);
    const int64_t iterations = iterations_to_run(program_, index_);
    for (iteration_ = 0; iteration_ < iterations; ++iteration_)
      for (int i = 0; i < size_; ++i) {
        start(i);
        if (runs_in(segment_.instructions[i].when, iteration_, iterations)) PLIMSOLL_RETURN_IF_ERROR(access(i));
      }
    return {};
  }

 private:
  int target_of(const Wait& wait) const { return lanes_[static_cast<size_t>(wait.lane)][wait.index]; }

  Status check_waits() const {
    for (int i = 0; i < size_; ++i)
      for (const Wait& wait : segment_.instructions[i].waits)
        if (!wait.of_previous_iteration && target_of(wait) >= i)
          return invalid_argument(describe(program_, {index_, i}) + " waits for " + std::string(to_string(wait.lane)) +
                                  " " + std::to_string(wait.index) + ", which is instruction " +
                                  std::to_string(target_of(wait)) + " and comes no earlier in the list");
    return {};
  }

  int64_t number_of(int64_t iteration, int i) const { return iteration * size_ + i; }
  Clock& clock_of(int64_t number) { return clocks_[static_cast<size_t>(number % (2 * size_))]; }

  /// Whatever is done before `number` starts, and itself.
  void join(Clock& clock, int64_t number, Lane lane) {
    const Clock& other = clock_of(number);
    for (size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
    int64_t& own = clock[static_cast<size_t>(lane)];
    own = std::max(own, number);
  }

  void start(int i) {
    const Instruction& instruction = segment_.instructions[i];
    Clock clock = kNothingDone;
    if (int64_t& before = latest_[static_cast<size_t>(instruction.lane)]; before >= 0)
      join(clock, before, instruction.lane);
    for (const Wait& wait : instruction.waits) {
      const int64_t iteration = iteration_ - (wait.of_previous_iteration ? 1 : 0);
      if (iteration >= 0) join(clock, number_of(iteration, target_of(wait)), wait.lane);
    }
    latest_[static_cast<size_t>(instruction.lane)] = number_of(iteration_, i);
    clock_of(number_of(iteration_, i)) = clock;
  }

  Status access(int i) {
    const Instruction& instruction = segment_.instructions[i];
    for (size_t k = 0; k < instruction.operands.size(); ++k) {
      const Operand& operand = instruction.operands[k];
      const Residence& residence = program_.residences[operand.residence];
      const int64_t begin = address_of(residence, operand, iteration_);
      const int64_t end = begin + operand.end_bytes - operand.begin_bytes;
      IntervalMap<Access>& accesses = accesses_[static_cast<size_t>(residence.space)];
      const int64_t unordered = find_unordered(accesses, begin, end, i, writes(operand.role));
      if (unordered >= 0) return conflict(i, k, unordered);
      const int64_t number = number_of(iteration_, i);
      if (writes(operand.role))
        accesses.assign(begin, end, {number, instruction.lane, kNothingDone});
      else
        accesses.change(begin, end,
                        [&](Access& access) { access.readers[static_cast<size_t>(instruction.lane)] = number; });
    }
    return {};
  }

  /// The number of an access in the way that may not be over, or -1.
  int64_t find_unordered(const IntervalMap<Access>& accesses, int64_t begin, int64_t end, int i, bool is_write) {
    const auto own_lane = static_cast<size_t>(segment_.instructions[i].lane);
    const Clock& clock = clock_of(number_of(iteration_, i));
    int64_t out = -1;
    const auto look = [&](int64_t number, size_t lane) {
      if (lane != own_lane && number > clock[lane]) out = number;
    };
    accesses.visit(begin, end, [&](int64_t, int64_t, const Access* access) {
      if (access == nullptr) return;
      look(access->writer, static_cast<size_t>(access->writer_lane));
      for (size_t lane = 0; is_write && lane < access->readers.size(); ++lane) look(access->readers[lane], lane);
    });
    return out;
  }

  Error conflict(int i, size_t operand, int64_t other) const {
    const Place there{index_, static_cast<int>(other % size_)};
    const int64_t back = iteration_ - other / size_;
    std::string when = back == 0   ? ""
                       : back == 1 ? " of the previous iteration"
                                   : " of " + std::to_string(back) + " iterations before";
    const auto lane_of = [](const Instruction& instruction) { return std::string(to_string(instruction.lane)); };
    const Instruction& here = segment_.instructions[i];
    return invalid_argument(describe(program_, {index_, i}, operand) + " on lane " + lane_of(here) + " " +
                            (writes(here.operands[operand].role) ? "writes" : "reads") + " bytes of instruction " +
                            std::to_string(there.index) + " '" + at(program_, there).label + "' on lane " +
                            lane_of(at(program_, there)) + when + ", and no wait orders them");
  }

  const Program& program_;
  int index_;
  const Segment& segment_;
  int64_t size_;
  std::array<std::vector<int>, kLaneCount> lanes_;  ///< the instructions of each lane
  std::vector<Clock> clocks_;                       ///< of this iteration and the previous one
  Clock latest_ = kNothingDone;                     ///< the number last started in each lane
  std::array<IntervalMap<Access>, kSpaceCount> accesses_;
  int64_t iteration_ = 0;
};

}  // namespace

Status check_order(const Program& program) {
  for (int i = 0; i < std::ssize(program.segments); ++i) PLIMSOLL_RETURN_IF_ERROR(OrderCheck(program, i).run());
  return {};
}

}  // namespace plimsoll::plan::check
