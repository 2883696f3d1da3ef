#pragma once

#include <optional>
#include <string>

#include "core/bytes.h"

namespace plimsoll::apps {

/// The value of --ram: a size, or nothing for "" and "auto".
Result<std::optional<Bytes>> try_parse_ram(const std::string& text);

/// A budget as the user would type it, rounded up to what --ram accepts: "1234MiB".
std::string to_budget(int64_t size_bytes);

}  // namespace plimsoll::apps
