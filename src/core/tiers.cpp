#include "core/tiers.h"

#include <algorithm>
#include <array>

namespace plimsoll {
namespace {

constexpr std::array<std::string_view, kSpaceCount> kSpaceNames{"device", "host", "pmem", "disk"};
constexpr std::array<std::string_view, kCategoryCount> kCategoryNames{
    "parameters", "gradients", "optimizer_state", "activations", "workspace", "input", "staging", "cache", "runtime"};

}  // namespace

std::string_view to_string(Space space) { return kSpaceNames[static_cast<size_t>(space)]; }

std::optional<Space> try_parse_space(std::string_view name) {
  const auto found = std::find(kSpaceNames.begin(), kSpaceNames.end(), name);
  if (found == kSpaceNames.end()) return std::nullopt;
  return static_cast<Space>(found - kSpaceNames.begin());
}

std::string_view to_string(Category category) { return kCategoryNames[static_cast<size_t>(category)]; }

}  // namespace plimsoll
