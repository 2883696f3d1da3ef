#include "report/plan_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "core/printable.h"
#include "report/quantities.h"

namespace plimsoll::report {
namespace {

using nlohmann::ordered_json;

std::string label_at(const program::Program& program, const program::Point& point) {
  if (static_cast<size_t>(point.segment) >= program.segments.size()) return "";
  const auto& instructions = program.segments[static_cast<size_t>(point.segment)].instructions;
  if (static_cast<size_t>(point.index) >= instructions.size()) return "";
  return instructions[static_cast<size_t>(point.index)].label;
}

std::string row(const std::string& name, int64_t size, const std::string& note = "") {
  return fmt::format("  {:<24}{:>10}{}{}\n", name, to_string(Bytes{size}), note.empty() ? "" : "  ", note);
}

std::string category_rows(const PlanTable& table) {
  std::string text;
  int64_t sum = 0;
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const int64_t size = table.category_bytes[i];
    sum += size;
    if (size > 0) text += row(to_words(to_string(static_cast<Category>(i))), size, to_share(size, table.arena_bytes));
  }
  if (table.arena_bytes > sum)
    text += row("alignment", table.arena_bytes - sum, to_share(table.arena_bytes - sum, table.arena_bytes));
  return text;
}

std::string process_rows(const PlanTable& table) {
  std::string text;
  for (const OutsideRow& outside : table.outside) text += row(outside.name, outside.size_bytes);
  if (table.outside.empty() && !table.budget) return text;
  text += row("process", table.process_bytes(),
              table.budget ? "budget " + to_string(*table.budget) : std::string("no budget given"));
  const bool has_extras = table.least_bytes > 0 && table.least_bytes < table.process_bytes();
  return has_extras ? text + row("least budget", table.least_bytes) : text;
}

ordered_json category_json(const CategoryBytes& bytes) {
  ordered_json object = ordered_json::object();
  for (size_t i = 0; i < kCategoryCount; ++i) object[std::string(to_string(static_cast<Category>(i)))] = bytes[i];
  return object;
}

}  // namespace

int64_t PlanTable::process_bytes() const {
  return std::accumulate(outside.begin(), outside.end(), arena_bytes,
                         [](int64_t sum, const OutsideRow& o) { return sum + o.size_bytes; });
}

int64_t PlanTable::arena_lower_bound() const { return arena_bytes - (step_bytes - step_lower_bound); }

PlanTable make_plan_table(const plan::Plan& plan, size_t most_holders) {
  PlanTable table{.name = plan.program.name,
                  .tightest_step = label_at(plan.program, plan.tightest),
                  .holders = plan.holders,
                  .state_bytes = plan.state_bytes,
                  .step_bytes = plan.step_bytes,
                  .step_lower_bound = plan.step_lower_bound,
                  .arena_bytes = plan.arena_bytes,
                  .predicted_s = plan.predicted_s};
  for (const plan::Plan::Holder& holder : plan.holders)
    table.category_bytes[static_cast<size_t>(holder.category)] += holder.size_bytes;
  if (table.holders.size() > most_holders) table.holders.resize(most_holders);
  return table;
}

std::string to_text(const PlanTable& table) {
  const int64_t lower_bound = table.arena_lower_bound();
  const std::string size =
      table.parameters > 0 ? ", " + to_quantity(static_cast<double>(table.parameters)) + " parameters" : "";
  std::string text = fmt::format("plan of {}{}: memory at the tightest step, {}\n", named(table.name), size,
                                 named(table.tightest_step));
  text += category_rows(table);
  text += row(
      "arena", table.arena_bytes,
      table.arena_bytes == lower_bound ? std::string("= lower bound") : "lower bound " + to_string(Bytes{lower_bound}));
  text += row("  state region", table.state_bytes);
  text += row("  step region", table.step_bytes, "lower bound " + to_string(Bytes{table.step_lower_bound}));
  text += process_rows(table);
  text += "largest at the tightest step\n";
  for (const plan::Plan::Holder& holder : table.holders)
    text += fmt::format("  {:>10}  {}  ({})\n", to_string(Bytes{holder.size_bytes}), printable(holder.name),
                        to_words(to_string(holder.category)));
  return text + fmt::format("predicted time of a step: {}\n", to_duration(table.predicted_s));
}

std::string to_json(const PlanTable& table) {
  ordered_json object;
  object["event"] = "plan";
  object["name"] = table.name;
  object["parameters"] = table.parameters > 0 ? ordered_json(table.parameters) : ordered_json(nullptr);
  object["tightest_step"] = table.tightest_step;
  object["category_bytes"] = category_json(table.category_bytes);
  object["state_bytes"] = table.state_bytes;
  object["step_bytes"] = table.step_bytes;
  object["step_lower_bound"] = table.step_lower_bound;
  object["arena_bytes"] = table.arena_bytes;
  object["arena_lower_bound"] = table.arena_lower_bound();
  object["outside"] = ordered_json::array();
  for (const OutsideRow& outside : table.outside)
    object["outside"].push_back({{"name", outside.name}, {"size_bytes", outside.size_bytes}});
  object["process_bytes"] = table.process_bytes();
  object["least_budget_bytes"] = table.least_bytes > 0 ? ordered_json(table.least_bytes) : ordered_json(nullptr);
  object["budget_bytes"] = table.budget ? ordered_json(table.budget->value) : ordered_json(nullptr);
  object["predicted_s"] = table.predicted_s;
  object["holders"] = ordered_json::array();
  for (const plan::Plan::Holder& holder : table.holders)
    object["holders"].push_back(
        {{"name", holder.name}, {"category", to_string(holder.category)}, {"size_bytes", holder.size_bytes}});
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace plimsoll::report
