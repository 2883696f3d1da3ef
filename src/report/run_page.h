#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/plan_table.h"
#include "report/trace_recorder.h"

namespace plimsoll::report {

/// What the page of a run shows; an empty part is left out or said to be empty.
struct RunPage {
  std::string title;
  std::vector<std::string> facts;                     ///< a line each: figures of the whole run
  std::vector<std::pair<double, double>> losses;      ///< step, loss
  std::vector<std::pair<double, double>> validation;  ///< step, loss
  std::optional<PlanTable> plan{};
  const program::Program* program = nullptr;  ///< what `spans` are spans of
  std::span<const TraceSpan> spans{};         ///< the last step among them is drawn
};

/// A page that stands by itself: loss curves, memory by category and lanes over one step, the plan. Same data, same
/// bytes. Memory: some 200 bytes a span of the step that is drawn.
std::string to_html(const RunPage& page);

}  // namespace plimsoll::report
