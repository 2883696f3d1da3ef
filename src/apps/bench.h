#pragma once

#include "apps/command.h"
#include "apps/fields.h"

namespace plimsoll::apps {

/// The sub-commands of `plimsoll bench`, one file each.
void add_bench_generate(CLI::App& bench, Action& action);
void add_bench_offsets(CLI::App& bench, Action& action);
void add_bench_op(CLI::App& bench, Action& action);
void add_bench_optimizer(CLI::App& bench, Action& action);
void add_bench_step(CLI::App& bench, Action& action);

/// Prints the fields of one measurement: a line each with units, or one JSON object, whose "event" says which it is.
Status print_rows(bool json, const Fields& fields);

}  // namespace plimsoll::apps
