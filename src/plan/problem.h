#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program/program.h"

namespace plimsoll::plan {

/// Storage that a step needs, before it has an address.
struct ProblemBuffer {
  std::string name;
  int64_t size_bytes = 0;
  program::Category category = program::Category::kActivations;
  std::string origin;
  bool is_state = false;                  ///< lives across steps, in the state region
  std::optional<int64_t> state_offset{};  ///< bytes; where another program has already put this state
  /// A buffer before it in the list of which this is a second residence, with content that is made again; -1: none.
  int same_content_as = -1;
  int slots = 1;  ///< above 1: alive through its whole segment, iterations take turns
};

/// What an instruction does with a range of a buffer.
struct Use {
  int buffer = 0;
  int64_t begin_bytes = 0;
  int64_t end_bytes = 0;
  int version = 0;
  program::Role role = program::Role::kRead;
};

struct ProblemInstruction {
  program::Kind kind = program::Kind::kCompute;
  program::Lane lane = program::Lane::kCompute;
  int kernel = -1;  ///< opaque here
  std::vector<Use> uses;
  int64_t workspace_bytes = 0;
  int64_t flops = 0;  ///< arithmetic of one run …
  int64_t bytes = 0;  ///< … and bytes that it must move at the least: 0 where nobody knows
  double duration_ns = 0;
  program::When when = program::When::kAlways;
  std::string label;
  std::string reason = {};  ///< why it is here, for people; empty where it is plain
};

struct ProblemSegment {
  std::string name;
  int64_t trips = 1;
  std::vector<ProblemInstruction> instructions;
};

/// What the host reads after the step: its buffer is alive to the end.
struct ProblemOutput {
  std::string name;
  Use use;
};

/// What the planner solves: plain numbers, with no idea of what the kernels mean.
struct Problem {
  std::string name;
  std::string compile_hash;
  std::vector<ProblemBuffer> buffers;
  std::vector<ProblemSegment> segments;
  std::vector<ProblemOutput> outputs;
  int64_t step_base_bytes = 0;  ///< where state without an offset of its own, and after it the step region, begins
};

/// Every offset in an arena is a multiple of this: a cache line, and the widest vector.
constexpr int64_t kAlignment = 64;

}  // namespace plimsoll::plan
