// Damages one field of a valid program at a time and runs what the checker accepts, in many orders that lanes and waits
// allow, on tokens instead of numbers. What is accepted must compute what the undamaged program does.
//
// Left out are fields that say what is meant, which no checker can know: which kernel, how many trips, which of two
// buffers, labels, a kCheck that is dropped, and an addition in place that is meant for the last iteration alone.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

#include "core/hash.h"
#include "plan/check.h"
#include "program/sample_programs.h"

namespace plimsoll::plan {
namespace {

using namespace program;  // NOLINT: the whole vocabulary is needed

uint64_t mix(uint64_t a, uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2);
  return a * 0xff51afd7ed558ccdULL ^ (a >> 29);
}

/// Runs a program byte by byte; every byte holds a token that says how it came about.
class TokenRun {
 public:
  TokenRun(const Program& program, uint32_t seed) : program_(program), random_(seed) {
    for (int space = 0; space < kSpaceCount; ++space)
      for (int64_t i = 0; i < program.arena_bytes[space]; ++i) memory_[space].push_back(random_());
    for (const StateEntry& entry : program.entry_state) {
      const Residence& residence = program.residences[entry.residence];
      for (int64_t i = residence.begin_bytes; i < residence.end_bytes; ++i)
        byte(residence, i, 0) = mix(static_cast<uint64_t>(residence.buffer), static_cast<uint64_t>(i));
    }
  }

  uint64_t run() {
    for (const Segment& segment : program_.segments) run_segment(segment);
    uint64_t out = 0;
    for (const StateEntry& entry : program_.exit_state) {
      const Residence& residence = program_.residences[entry.residence];
      for (int64_t i = residence.begin_bytes; i < residence.end_bytes; ++i) out = mix(out, byte(residence, i, 0));
    }
    for (const Output& output : program_.outputs)
      for (int64_t i = output.begin_bytes; i < output.end_bytes; ++i)
        out = mix(out, byte(program_.residences[output.residence], i, 0));
    return out;
  }

 private:
  uint64_t& byte(const Residence& residence, int64_t index, int64_t iteration) {
    return memory_[static_cast<size_t>(residence.space)].at(static_cast<size_t>(
        residence.offset_bytes + iteration % residence.slots * residence.stride_bytes + index - residence.begin_bytes));
  }

  void run_segment(const Segment& segment) {
    std::array<std::vector<const Instruction*>, kLaneCount> lanes;
    for (const Instruction& instruction : segment.instructions)
      lanes[static_cast<size_t>(instruction.lane)].push_back(&instruction);
    std::array<int64_t, kLaneCount> done{};
    while (true) {
      std::vector<size_t> ready;
      for (size_t lane = 0; lane < lanes.size(); ++lane)
        if (is_ready(segment, lanes, done, lane)) ready.push_back(lane);
      if (ready.empty()) break;
      // A lane goes on for a while, so that lanes come far apart.
      const size_t lane = ready[random_() % ready.size()];
      for (auto burst = random_() % 8; is_ready(segment, lanes, done, lane); --burst) {
        const auto size = std::ssize(lanes[lane]);
        execute(segment, *lanes[lane][done[lane] % size], done[lane] / size);
        ++done[lane];
        if (burst == 0) break;
      }
    }
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      EXPECT_EQ(done[lane], std::ssize(lanes[lane]) * segment.trips) << "deadlock";
  }

  template <class Lanes, class Done>
  static bool is_ready(const Segment& segment, const Lanes& lanes, const Done& done, size_t lane) {
    const auto size = std::ssize(lanes[lane]);
    if (done[lane] >= size * segment.trips) return false;
    const int64_t iteration = done[lane] / size;
    for (const Wait& wait : lanes[lane][done[lane] % size]->waits) {
      const auto other = static_cast<size_t>(wait.lane);
      const int64_t of = iteration - (wait.of_previous_iteration ? 1 : 0);
      if (of >= 0 && done[other] <= of * std::ssize(lanes[other]) + wait.index) return false;
    }
    return true;
  }

  static bool runs(const Instruction& instruction, int64_t iteration, int64_t trips) {
    if (instruction.when == When::kFirst) return iteration == 0;
    if (instruction.when == When::kNotFirst) return iteration != 0;
    return instruction.when == When::kAlways || iteration + 1 == trips;
  }

  void execute(const Segment& segment, const Instruction& instruction, int64_t iteration) {
    if (!runs(instruction, iteration, segment.trips)) return;
    uint64_t from =
        stable_hash(instruction.kind == Kind::kCompute ? program_.kernels[instruction.kernel].op : instruction.label);
    if (instruction.kind == Kind::kFeed) from = mix(from, static_cast<uint64_t>(iteration));
    for (const Operand& operand : instruction.operands)
      for (int64_t i = operand.begin_bytes; operand.role == Role::kRead && i < operand.end_bytes; ++i)
        from = mix(from, byte(program_.residences[operand.residence], i, iteration));
    for (size_t k = 0; k < instruction.operands.size(); ++k)
      if (instruction.operands[k].role != Role::kRead) write(instruction, k, from, iteration);
  }

  void write(const Instruction& instruction, size_t k, uint64_t from, int64_t iteration) {
    const Operand& operand = instruction.operands[k];
    const Residence& residence = program_.residences[operand.residence];
    const bool is_transfer =
        instruction.kind == Kind::kCopy || instruction.kind == Kind::kRead || instruction.kind == Kind::kWrite;
    const bool adds = instruction.kind == Kind::kCompute &&
                      !program_.kernels[instruction.kernel].accumulated_dsts.empty() &&
                      operand.role != Role::kWorkspace && !(operand.role == Role::kAccumulate && iteration == 0);
    for (int64_t i = operand.begin_bytes; i < operand.end_bytes; ++i) {
      uint64_t& target = byte(residence, i, iteration);
      if (operand.role == Role::kWorkspace) {
        target = random_();
      } else if (is_transfer) {
        const Operand& source = instruction.operands[0];
        target = byte(program_.residences[source.residence], i - operand.begin_bytes + source.begin_bytes, iteration);
      } else {
        target = mix(from, static_cast<uint64_t>(i)) + (adds ? target : 0);
      }
    }
  }

  const Program& program_;
  std::mt19937 random_;
  std::array<std::vector<uint64_t>, kSpaceCount> memory_;
};

struct Mutation {
  std::string field;
  Program program;
};

class Mutator {
 public:
  explicit Mutator(const Program& program) : original_(program) {}

  std::vector<Mutation> run() {
    for (size_t i = 0; i < original_.residences.size(); ++i) residence(i);
    for (size_t s = 0; s < original_.segments.size(); ++s)
      for (size_t i = 0; i < original_.segments[s].instructions.size(); ++i) instruction(s, i);
    for (size_t i = 0; i < original_.kernels.size(); ++i)
      add("kernel.accumulated_dsts", [&](Program& p) {
        p.kernels[i].accumulated_dsts =
            p.kernels[i].accumulated_dsts.empty() ? std::vector<int>{0} : std::vector<int>{};
      });
    for (size_t i = 0; i < original_.kernels.size(); ++i)
      add("kernel.in_place", [&](Program& p) { p.kernels[i].in_place.clear(); });
    for (size_t i = 0; i < original_.outputs.size(); ++i)
      for (int delta : {-1, 1}) add("output.version", [&](Program& p) { p.outputs[i].version += delta; });
    return std::move(out_);
  }

 private:
  template <class Change>
  void add(const std::string& field, Change change) {
    Program program = original_;
    change(program);
    if (program != original_) out_.push_back({field, std::move(program)});
  }

  void residence(size_t i) {
    for (int64_t delta : {-320, -256, -128, -64, -4, 4, 64, 128, 256, 320}) {
      add("residence.offset", [&](Program& p) { p.residences[i].offset_bytes += delta; });
      add("residence.stride", [&](Program& p) { p.residences[i].stride_bytes += delta; });
    }
    for (int delta : {-2, -1, 1, 2}) {
      add("residence.slots", [&](Program& p) { p.residences[i].slots += delta; });
      for (int program::Point::*part : {&Point::segment, &Point::index}) {
        add("residence.first", [&](Program& p) { p.residences[i].first.*part += delta; });
        add("residence.last", [&](Program& p) { p.residences[i].last.*part += delta; });
      }
    }
    for (int space = 0; space < kSpaceCount; ++space)
      add("residence.space", [&](Program& p) {
        p.residences[i].space = static_cast<Space>(space);
        p.arena_bytes = {4096, 4096, 4096, 4096};
      });
  }

  void instruction(size_t s, size_t i) {
    const auto at = [s, i](Program& p) -> Instruction& { return p.segments[s].instructions[i]; };
    const Instruction& now = original_.segments[s].instructions[i];
    for (int lane = 0; lane < kLaneCount; ++lane)
      add("instruction.lane", [&](Program& p) { at(p).lane = static_cast<Lane>(lane); });
    for (int when = 0; when < kWhenCount; ++when)
      if (static_cast<When>(when) != When::kLast || !is_addition_in_place(now))
        add("instruction.when", [&](Program& p) { at(p).when = static_cast<When>(when); });
    add("instruction order", [&](Program& p) {
      if (i > 0) std::swap(at(p), p.segments[s].instructions[i - 1]);
    });
    for (size_t k = 0; k < now.operands.size(); ++k) operand(at, k);
    for (size_t k = 0; k < now.waits.size(); ++k) wait(at, k);
  }

  bool is_addition_in_place(const Instruction& instruction) const {
    return instruction.kind == Kind::kCompute && !original_.kernels[instruction.kernel].accumulated_dsts.empty() &&
           instruction.operands.back().role == Role::kUpdate;
  }

  template <class At>
  void operand(At at, size_t k) {
    for (int delta : {-1, 1}) add("operand.version", [&](Program& p) { at(p).operands[k].version += delta; });
    for (int64_t delta : {-4, 4, 128}) {
      add("operand.begin", [&](Program& p) { at(p).operands[k].begin_bytes += delta; });
      add("operand.end", [&](Program& p) { at(p).operands[k].end_bytes += delta; });
    }
    for (int role = 0; role < kRoleCount; ++role)
      add("operand.role", [&](Program& p) { at(p).operands[k].role = static_cast<Role>(role); });
    for (size_t r = 0; r < original_.residences.size(); ++r)
      add("operand.residence", [&](Program& p) {
        Operand& target = at(p).operands[k];
        if (p.residences[r].buffer == p.residences[target.residence].buffer) target.residence = static_cast<int>(r);
      });
  }

  template <class At>
  void wait(At at, size_t k) {
    add("wait removed", [&](Program& p) { at(p).waits.erase(at(p).waits.begin() + static_cast<std::ptrdiff_t>(k)); });
    add("wait.of_previous_iteration", [&](Program& p) { at(p).waits[k].of_previous_iteration ^= true; });
    for (int delta : {-1, 1}) add("wait.index", [&](Program& p) { at(p).waits[k].index += delta; });
    for (int lane = 0; lane < kLaneCount; ++lane)
      add("wait.lane", [&](Program& p) { at(p).waits[k].lane = static_cast<Lane>(lane); });
  }

  const Program& original_;
  std::vector<Mutation> out_;
};

TEST(CheckMutation, WhatIsAcceptedComputesTheSame) {
  struct Count {
    int made = 0;
    int refused = 0;
  };
  std::map<std::string, Count> counts;
  constexpr uint32_t kOrders = 12;
  for (const Program& original : {samples::single_segment(), samples::microbatches(), samples::streamed()}) {
    const uint64_t wanted = TokenRun(original, 1).run();
    for (uint32_t seed = 0; seed < kOrders; ++seed) ASSERT_EQ(TokenRun(original, seed).run(), wanted) << original.name;
    for (const Mutation& mutation : Mutator(original).run()) {
      ++counts[mutation.field].made;
      if (!check_program(mutation.program, {}).ok()) {
        ++counts[mutation.field].refused;
        continue;
      }
      for (uint32_t seed = 0; seed < kOrders; ++seed)
        ASSERT_EQ(TokenRun(mutation.program, seed).run(), wanted) << original.name << " " << mutation.field << "\n"
                                                                  << seed;
    }
  }
  for (const auto& [field, count] : counts) {
    RecordProperty(field, std::to_string(count.refused) + " of " + std::to_string(count.made));
    EXPECT_GT(count.refused, 0) << field;
  }
}

TEST(CheckMutation, WrongNamesOfContentAreRefusedAlways) {
  // These change no byte of this run, but a plan that believed them would be wrong.
  for (const Program& original : {samples::single_segment(), samples::microbatches(), samples::streamed()})
    for (size_t s = 0; s < original.segments.size(); ++s)
      for (size_t i = 0; i < original.segments[s].instructions.size(); ++i)
        for (size_t k = 0; k < original.segments[s].instructions[i].operands.size(); ++k)
          for (int delta : {-1, 1}) {
            Program damaged = original;
            Operand& operand = damaged.segments[s].instructions[i].operands[k];
            if (operand.role != Role::kRead && operand.role != Role::kUpdate) continue;
            operand.version += delta;
            EXPECT_FALSE(check_program(damaged, {}).ok()) << original.name << " " << s << ":" << i << " operand " << k;
          }
}

}  // namespace
}  // namespace plimsoll::plan
