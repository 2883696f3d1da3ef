#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace plimsoll {

/// Where memory is. `device` is what compute addresses on an accelerator; on a `cpu` machine compute works in `host`.
enum class Space : uint8_t { kDevice, kHost, kPmem, kDisk };
inline constexpr int kSpaceCount = 4;

/// What memory is for; the ledger's rows.
enum class Category : uint8_t {
  kParameters,
  kGradients,
  kOptimizerState,
  kActivations,
  kWorkspace,
  kInput,
  kStaging,
  kCache,
  kRuntime
};
inline constexpr int kCategoryCount = 9;

/// "device", "host", "pmem", "disk"
std::string_view to_string(Space space);
/// The space of that name, or nothing.
std::optional<Space> try_parse_space(std::string_view name);

/// "parameters", "optimizer_state", …
std::string_view to_string(Category category);

}  // namespace plimsoll
