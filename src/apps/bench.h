#pragma once

#include "apps/command.h"
#include "apps/fields.h"

namespace plimsoll::apps {

/// The sub-commands of `plimsoll bench`, one file each.
void add_bench_generate(Command& bench);
void add_bench_offsets(Command& bench);
void add_bench_op(Command& bench);
void add_bench_optimizer(Command& bench);
void add_bench_step(Command& bench);

/// Prints the fields of one measurement: a line each with units, or one JSON object, whose "event" says which it is.
void print_rows(bool json, const Fields& fields);

}  // namespace plimsoll::apps
