#pragma once

#include <CLI/CLI.hpp>

#include "core/result.h"

namespace plimsoll::apps {

/// What is wrong with a command line, in one line: an option or command that does not exist, with the nearest that
/// does, or else what the parser says.
Error usage_error(const CLI::App& app, const CLI::ParseError& fault);

}  // namespace plimsoll::apps
