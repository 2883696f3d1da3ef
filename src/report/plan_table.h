#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/bytes.h"
#include "plan/plan.h"
#include "report/memory_timeline.h"

namespace plimsoll::report {

/// Memory that a process needs beside the arena.
struct OutsideRow {
  std::string name;
  int64_t size_bytes = 0;
};

/// A plan as it is shown: sizes in bytes.
struct PlanTable {
  std::string name;
  int64_t parameters = 0;                   ///< filled by the caller: elements; 0 where it is not known
  CategoryBytes category_bytes{};           ///< alive at the tightest step
  std::string tightest_step;                ///< label of that instruction
  std::vector<plan::Plan::Holder> holders;  ///< the largest there, largest first
  int64_t state_bytes = 0;
  int64_t step_bytes = 0;
  int64_t step_lower_bound = 0;
  int64_t arena_bytes = 0;
  double predicted_s = 0;           ///< of one step
  std::vector<OutsideRow> outside;  ///< filled by the caller: page tables, runtime, data …
  int64_t least_bytes = 0;          ///< filled by the caller: the least budget; 0 where it is not known
  std::optional<Bytes> budget;      ///< filled by the caller: of the whole process

  /// No plan of this order of ops has a smaller arena. (The arena ends with the last buffer's last byte, the step
  /// region with its padding, so the regions' sum may be some bytes more.)
  int64_t arena_lower_bound() const;
  /// Arena and outside rows together.
  int64_t process_bytes() const;
};

/// Takes from a plan what is shown of it.
PlanTable make_plan_table(const plan::Plan& plan, size_t most_holders = 8);

/// For people: memory by category, arena height and lower bound, what is outside, largest holders, predicted time.
std::string to_text(const PlanTable& table);

/// One JSON object in one line, with the members' names as keys, "event" ("plan") before them.
std::string to_json(const PlanTable& table);

}  // namespace plimsoll::report
