#pragma once

#include <optional>
#include <string>

#include "engine/session_plan.h"
#include "report/plan_table.h"
#include "report/roofline.h"

namespace plimsoll::apps {

/// What is shown of a program's plan: its parameters counted, with what the process needs beside it and its budget.
report::PlanTable make_plan_table(const engine::CompiledProgram& program, const engine::MemoryNeed& need,
                                  std::optional<Bytes> ram);

/// What its kernels have to do beside what the environment's rates say that the machine can.
report::Roofline make_roofline(const engine::CompiledProgram& program, engine::Environment& environment);

/// Prints a plan as `plimsoll plan` and the head of `plimsoll train` show it.
void print_plan(const report::PlanTable& table, bool json);

/// Warns of what makes a training step other than its user may think: parameters without a gradient, work
/// done twice, ops on the reference backend.
void print_warnings(const engine::SessionPlan& plan, engine::Environment& environment, bool json);

}  // namespace plimsoll::apps
