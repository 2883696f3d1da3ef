// plimsoll models: what the zoo has.
#include <cstdio>
#include <memory>

#include "apps/commands.h"
#include "apps/fields.h"
#include "apps/shared_options.h"
#include "models/zoo.h"

namespace plimsoll::apps {
namespace {

Status run(bool json) {
  for (const models::ZooEntry& entry : models::zoo()) {
    if (json)
      print_json(
          {{"event", "model"}, {"name", entry.name}, {"parameters", entry.parameter_count}, {"about", entry.summary}});
    else
      std::printf("%-14s %15lld  %s\n", entry.name.c_str(), static_cast<long long>(entry.parameter_count),
                  entry.summary.c_str());
  }
  return {};
}

}  // namespace

void add_models(Command& root) {
  auto json = std::make_shared<bool>(false);
  Command command = root.add_command("models", "List the models by name, with their parameter counts");
  add_json_option(command, *json);
  command.footer("Examples:\n  plimsoll models\n  plimsoll models --json");
  command.action([json] { return run(*json); });
}

}  // namespace plimsoll::apps
