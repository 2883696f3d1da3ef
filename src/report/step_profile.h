#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/roofline.h"
#include "report/trace_recorder.h"

namespace plimsoll::report {

/// Some instructions of a step together.
struct ProfileRow {
  std::string name;
  int64_t calls = 0;   ///< a step
  double seconds = 0;  ///< a step: the sum of each instruction's median over the steps
  double flops = 0;
  double bytes = 0;
  double bound_s = 0;  ///< the least time for that: of each call what it computes or what it moves, whichever is longer

  /// How near to its bound it runs; 0 where it took no time.
  double share_of_bound() const { return seconds > 0 ? bound_s / seconds : 0; }
};

/// Where the time of a step goes.
struct StepProfile {
  int64_t steps = 0;               ///< recorded
  double step_s = 0;               ///< median, from the first start to the last end
  ProfileRow total;                ///< of all instructions
  double between_s = 0;            ///< of the step, in no instruction of the compute lane
  std::vector<ProfileRow> ops;     ///< by kind of op, longest first
  std::vector<ProfileRow> calls;   ///< by op, inputs and attributes, longest first
  std::vector<ProfileRow> layers;  ///< by layer of the model, longest first
};

/// The layer in a node's path: up to its first number ("h.3", "bert.encoder.layer.0"), else its first name ("wte").
std::string layer_of(std::string_view path);

/// Requires: `roofline` has a call for each kernel of `program`; `spans` are of whole steps, of one lane.
StepProfile make_profile(const program::Program& program, std::span<const TraceSpan> spans, const Roofline& roofline);

/// For people: the tables, of calls the 20 longest.
std::string to_text(const StepProfile& profile);

/// One JSON object a row, "event" profile_op, profile_call or profile_layer, one a line.
std::string to_json_lines(const StepProfile& profile);

}  // namespace plimsoll::report
