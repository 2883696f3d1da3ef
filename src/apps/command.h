#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "core/result.h"

namespace plimsoll::apps {

/// What a command does once its options are parsed; its Status becomes the exit code.
using Action = std::function<Status()>;

/// Each adds one sub-command with its options and examples; `action` is set when it is chosen.
void add_bench(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_machine(CLI::App& app, Action& action);
void add_models(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_train(CLI::App& app, Action& action);

/// The exit code of an error: 2 bad input, 3 does not fit, 4 io, 5 damaged file, 6 unsupported, 7 no memory, 130
/// stopped.
int exit_code(ErrorCode code);

}  // namespace plimsoll::apps
