#pragma once

#include <optional>
#include <span>
#include <string>

#include "report/plan_table.h"
#include "report/run_metrics.h"
#include "report/trace_recorder.h"

namespace plimsoll::report {

/// What the page of a run shows; an empty part is left out or said to be empty.
struct RunPage {
  std::string title;
  RunMetrics metrics{};
  std::optional<PlanTable> plan{};
  const program::Program* program = nullptr;  ///< what `spans` are spans of
  std::span<const TraceSpan> spans{};         ///< the last step among them is drawn
};

/// A page that stands by itself: the run's figures, curves by update, the sample, memory by category and lanes over one
/// step, the plan. Same data, same bytes. Memory: some 200 bytes a span of the step that is drawn.
std::string to_html(const RunPage& page);

}  // namespace plimsoll::report
