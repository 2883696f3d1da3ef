#include "apps/plan_view.h"

#include <cstdio>

#include "report/plan_table.h"

namespace plimsoll::apps {

void print_plan(const plan::Plan& plan, const engine::MemoryNeed& need, std::optional<Bytes> ram, bool json) {
  report::PlanTable table = report::make_plan_table(plan);
  // Another program of the session may need a larger arena than the one that is shown.
  if (need.arena_bytes > plan.arena_bytes)
    table.outside.push_back({"rest of the arena", need.arena_bytes - plan.arena_bytes});
  table.outside.push_back({"page tables", need.page_table_bytes});
  table.outside.push_back({"runtime", need.runtime_bytes});
  table.outside.push_back({"data", need.data_bytes});
  // Data are prepared before the arena is taken; where that needs more than the run, it decides.
  if (need.total_bytes() > need.running_bytes())
    table.outside.push_back({"more while preparing data", need.total_bytes() - need.running_bytes()});
  table.budget = ram;
  std::string text = json ? to_json(table) : to_text(table);
  while (text.ends_with('\n')) text.pop_back();
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void print_warnings(const engine::SessionPlan& plan, engine::Environment& environment) {
  for (const std::string& note : plan.notes) std::fprintf(stderr, "warning: %s\n", note.c_str());
  for (const std::string& fallback : plan.train.fallbacks(environment.catalogue()))
    std::fprintf(stderr, "warning: runs on the slow reference backend: %s\n", fallback.c_str());
}

}  // namespace plimsoll::apps
