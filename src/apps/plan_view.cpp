#include "apps/plan_view.h"

#include <cstdio>

#include "apps/messages.h"

namespace plimsoll::apps {

report::PlanTable make_plan_table(const engine::CompiledProgram& program, const engine::MemoryNeed& need,
                                  std::optional<Bytes> ram) {
  report::PlanTable table = report::make_plan_table(program.plan);
  const auto& buffers = program.program().buffers;
  for (const auto& [name, place] : program.lowered.state)
    if (buffers[static_cast<size_t>(place.buffer)].category == Category::kParameters)
      table.parameters += place.desc.numel();
  // Another program of the session may need a larger arena than the one that is shown.
  if (need.arena_bytes > table.arena_bytes)
    table.outside.push_back({"rest of the arena", need.arena_bytes - table.arena_bytes});
  table.outside.push_back({"page tables", need.page_table_bytes});
  table.outside.push_back({"runtime", need.runtime_bytes});
  table.outside.push_back({"data", need.data_bytes});
  // Data are prepared before the arena is taken; where that needs more than the run, it decides.
  if (need.total_bytes() > need.running_bytes())
    table.outside.push_back({"more while preparing data", need.total_bytes() - need.running_bytes()});
  if (need.planned_bytes() > need.total_bytes())
    table.outside.push_back({"more for the byte model", need.planned_bytes() - need.total_bytes()});
  table.least_bytes = need.total_bytes();
  table.budget = ram;
  return table;
}

report::Roofline make_roofline(const engine::CompiledProgram& program, engine::Environment& environment) {
  const engine::Catalogue& catalogue = environment.catalogue();
  report::Roofline out{.flops_per_s = catalogue.rates().flops_per_s, .bytes_per_s = catalogue.rates().bytes_per_s};
  for (const ops::Cost& cost : program.costs(catalogue))
    out.calls.push_back({.flops = static_cast<double>(cost.flops), .bytes = static_cast<double>(cost.bytes)});
  return out;
}

void print_plan(const report::PlanTable& table, bool json) {
  std::string text = json ? to_json(table) : to_text(table);
  while (text.ends_with('\n')) text.pop_back();
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void print_warnings(const engine::SessionPlan& plan, engine::Environment& environment, bool json) {
  for (const std::string& note : plan.notes) print_warning(note, json);
  for (const std::string& fallback : plan.train.fallbacks(environment.catalogue()))
    print_warning("runs on the slow reference backend: " + fallback, json);
}

}  // namespace plimsoll::apps
