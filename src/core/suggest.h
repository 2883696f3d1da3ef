#pragma once

#include <span>
#include <string>
#include <string_view>

namespace plimsoll {

/// "; did you mean 'gelu'?" for the candidate nearest in edit distance (ties: the first), or "" where none is near.
std::string suggest(std::string_view wrong, std::span<const std::string> candidates);

}  // namespace plimsoll
