#pragma once

#include "apps/command.h"

namespace plimsoll::apps {

/// Each adds one command with its options and examples.
void add_bench(Command& root);
void add_generate(Command& root);
void add_machine(Command& root);
void add_models(Command& root);
void add_plan(Command& root);
void add_train(Command& root);

}  // namespace plimsoll::apps
