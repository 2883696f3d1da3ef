#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/command.h"
#include "core/bytes.h"
#include "engine/environment/calibration.h"
#include "engine/environment/environment.h"

namespace plimsoll::apps {

/// Options that several commands have, with one name and one help text.
void add_json_option(Command& command, bool& json);
void add_threads_option(Command& command, int& threads);

/// --threads of a command with a run file, over which it goes where it is given.
void add_threads_option(Command& command, std::optional<int>& threads);

/// A check for options: a whole number from `least` to `most`, or one line that says so.
Check whole_number(int64_t least, int64_t most = std::numeric_limits<int64_t>::max());

/// A check for options: a finite number.
Check finite_number();

/// A check for options: a finite number above 0.
Check positive_number();

/// Adds --ram, the budget of the whole process.
void add_ram_option(Command& command, std::optional<std::string>& text);

/// The value of --ram: a size, or nothing where it is not given or "auto". Errors: invalid_argument for what is no
/// size, or less than a byte.
Result<std::optional<Bytes>> try_parse_ram(const std::optional<std::string>& text);

/// Adds to a run file's overrides what --ram and --threads, where given, are short for. Errors: those of --ram.
Status add_shortcuts(std::vector<std::string>& overrides, const std::optional<std::string>& ram,
                     std::optional<int> threads);

/// Adds --fusions, which chooses the passes that join ops.
void add_fusions_option(Command& command, std::string& text);

/// The environment that a command runs in, once what its user should hear of it is said.
Result<std::unique_ptr<engine::Environment>> make_environment(const engine::Environment::Options& options, bool json);

/// Adds --rates, which names the rates that predicted times assume, so that nothing is measured.
void add_rates_option(Command& command, std::string& text);

/// The value of --rates, or nothing for "". Errors: invalid_argument that says what it takes.
Result<std::optional<engine::Rates>> try_parse_rates(const std::string& text);

/// Puts these rates under the predictions of `environment`, or the machine's, measured within `needed_bytes`.
void set_rates(engine::Environment& environment, const std::optional<engine::Rates>& given, int64_t needed_bytes);

/// A budget as the user would type it, rounded up to what --ram accepts: "1234MiB".
std::string to_budget(int64_t size_bytes);

}  // namespace plimsoll::apps
