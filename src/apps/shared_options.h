#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "core/bytes.h"

namespace plimsoll::apps {

/// Options that several commands have, with one name and one help text.
void add_json_option(CLI::App& command, bool& json);
void add_threads_option(CLI::App& command, int& threads);

/// The value of --ram: a size, or nothing for "" and "auto".
Result<std::optional<Bytes>> try_parse_ram(const std::string& text);

/// A budget as the user would type it, rounded up to what --ram accepts: "1234MiB".
std::string to_budget(int64_t size_bytes);

}  // namespace plimsoll::apps
