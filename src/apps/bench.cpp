#include "apps/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "core/bytes.h"
#include "core/printable.h"
#include "report/quantities.h"

namespace plimsoll::apps {

namespace {

using nlohmann::ordered_json;

/// How a field whose name ends so is shown to people.
struct Unit {
  std::string_view suffix;
  std::string (*show)(double);
};

/// The first that fits counts. A suffix that starts with '_' is not shown: the value says its unit.
constexpr Unit kUnits[] = {
    {"_bytes_per_s", [](double v) { return report::to_quantity(v, "B/s"); }},
    {"bytes_per_s", [](double v) { return report::to_quantity(v, "B/s"); }},
    {"gflops_per_s", [](double v) { return report::to_quantity(v * 1e9, "FLOP/s"); }},
    {"_gflops", [](double v) { return report::to_quantity(v * 1e9, "FLOP/s"); }},
    {"per_s", [](double v) { return report::to_quantity(v); }},
    {"flops", [](double v) { return report::to_quantity(v, "FLOP"); }},
    {"_bytes", [](double v) { return to_string(Bytes{static_cast<int64_t>(v)}); }},
    {"bytes", [](double v) { return to_string(Bytes{static_cast<int64_t>(v)}); }},
    {"_s", report::to_duration},
    {"seconds", report::to_duration},
};

std::string words(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', ' ');
  return text;
}

/// "median_s": 0.0021 as "median" and "2.10 ms".
std::pair<std::string, std::string> readable(const std::string& name, const ordered_json& value) {
  if (value.is_string()) return {words(name), printable(value.get<std::string>())};
  if (!value.is_number()) return {words(name), value.dump()};
  const auto number = value.get<double>();
  for (const Unit& unit : kUnits) {
    if (!name.ends_with(unit.suffix)) continue;
    const size_t hidden = unit.suffix.starts_with('_') ? unit.suffix.size() : 0;
    return {words(name.substr(0, name.size() - hidden)), unit.show(number)};
  }
  if (name.starts_with("share")) return {words(name), fmt::format("{:.1f} %", 100 * number)};
  return {words(name), value.is_number_float() ? fmt::format("{:.4g}", number) : value.dump()};
}

}  // namespace

Status print_rows(bool json, const ordered_json& fields) {
  if (json) {
    print_json(fields);
    return {};
  }
  for (const auto& [name, value] : fields.items()) {
    if (name == "event" || value.is_null()) continue;
    const auto [label, text] = readable(name, value);
    std::printf("%-24s %s\n", label.c_str(), text.c_str());
  }
  return {};
}

void add_bench(CLI::App& app, Action& action) {
  CLI::App* bench = app.add_subcommand("bench", "Measure one part: step, optimizer, offsets, op, generate");
  bench->require_subcommand(1);
  add_bench_step(*bench, action);
  add_bench_optimizer(*bench, action);
  add_bench_offsets(*bench, action);
  add_bench_op(*bench, action);
  add_bench_generate(*bench, action);
}

}  // namespace plimsoll::apps
