#pragma once

#include <span>
#include <string>
#include <string_view>

namespace plimsoll {

/// The candidate that `wrong` was most likely meant to be, or nullptr where none is near. Near is what begins with
/// `wrong`, with an edit in four characters ("optim", "gpt3"), and else what is at most half of its characters, or 2,
/// edits away and has something in common with it. The fewest edits win; ties: the first.
const std::string* find_nearest(std::string_view wrong, std::span<const std::string> candidates);

/// "; did you mean 'gelu'?" for the nearest candidate, or "" where none is near.
std::string suggest(std::string_view wrong, std::span<const std::string> candidates);

}  // namespace plimsoll
