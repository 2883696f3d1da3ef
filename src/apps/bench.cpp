#include "apps/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "apps/commands.h"
#include "core/bytes.h"
#include "core/printable.h"
#include "report/quantities.h"

namespace plimsoll::apps {

namespace {

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

/// "median_s": 0.0021 as "median" and "2.10 ms".
std::pair<std::string, std::string> readable(const std::string& name, double number) {
  for (const Unit& unit : kUnits) {
    if (!name.ends_with(unit.suffix)) continue;
    const size_t hidden = unit.suffix.starts_with('_') ? unit.suffix.size() : 0;
    return {report::to_words(name.substr(0, name.size() - hidden)), unit.show(number)};
  }
  if (name.starts_with("share")) return {report::to_words(name), fmt::format("{:.1f} %", 100 * number)};
  return {report::to_words(name), fmt::format("{:.4g}", number)};
}

std::pair<std::string, std::string> readable(const Field& field) {
  const auto& value = field.value.get();
  if (const auto* text = std::get_if<std::string>(&value)) return {report::to_words(field.name), printable(*text)};
  if (const auto* truth = std::get_if<bool>(&value)) return {report::to_words(field.name), *truth ? "yes" : "no"};
  if (const auto* number = std::get_if<double>(&value)) return readable(field.name, *number);
  const int64_t whole = std::get<int64_t>(value);
  const bool has_unit = std::ranges::any_of(kUnits, [&](const Unit& u) { return field.name.ends_with(u.suffix); });
  if (has_unit) return readable(field.name, static_cast<double>(whole));
  return {report::to_words(field.name), std::to_string(whole)};
}

}  // namespace

void print_rows(bool json, const Fields& fields) {
  if (json) {
    print_json(fields);
    return;
  }
  for (const Field& field : fields) {
    if (field.name == "event" || field.value.is_null()) continue;
    const auto [label, text] = readable(field);
    std::printf("%-24s %s\n", label.c_str(), text.c_str());
  }
}

void add_bench(Command& root) {
  Command bench = root.add_command("bench", "Measure one part: step, optimizer, offsets, op, generate");
  bench.require_command();
  add_bench_step(bench);
  add_bench_optimizer(bench);
  add_bench_offsets(bench);
  add_bench_op(bench);
  add_bench_generate(bench);
}

}  // namespace plimsoll::apps
