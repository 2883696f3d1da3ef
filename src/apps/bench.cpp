#include "apps/bench.h"

#include <cstdio>

#include "report/printable.h"

namespace plimsoll::apps {

Status print_rows(bool json, const nlohmann::ordered_json& fields) {
  if (json) {
    print_json(fields);
    return {};
  }
  for (const auto& [name, value] : fields.items()) {
    if (name == "event" || value.is_null()) continue;
    const std::string text = value.is_string() ? report::printable(value.get<std::string>()) : value.dump();
    std::printf("%-24s %s\n", name.c_str(), text.c_str());
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
