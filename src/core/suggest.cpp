#include "core/suggest.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace plimsoll {
namespace {

constexpr size_t kFar = std::numeric_limits<size_t>::max();

/// Levenshtein distance of `a` to each start of `b`, the last to all of it; names are short, so O(len²) is nothing.
std::vector<size_t> edit_distances(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row;
}

/// Edits from `wrong` to `name`, or to a start of it where that is near; kFar where nothing is.
size_t edits_to(std::string_view name, std::string_view wrong) {
  const std::vector<size_t> distances = edit_distances(wrong, name);
  const size_t to_start = *std::ranges::min_element(distances), to_all = distances.back();
  if (to_start <= wrong.size() / 4) return to_start;
  const bool has_common_part = to_all < std::max(wrong.size(), name.size());
  return has_common_part && to_all <= std::max<size_t>(2, wrong.size() / 2) ? to_all : kFar;
}

}  // namespace

const std::string* find_nearest(std::string_view wrong, std::span<const std::string> candidates) {
  if (wrong.empty()) return nullptr;  // every name begins so
  const std::string* nearest = nullptr;
  size_t least = kFar;
  for (const std::string& candidate : candidates) {
    const size_t edits = edits_to(candidate, wrong);
    if (edits >= least) continue;
    nearest = &candidate;
    least = edits;
  }
  return nearest;
}

std::string suggest(std::string_view wrong, std::span<const std::string> candidates) {
  const std::string* nearest = find_nearest(wrong, candidates);
  return nearest == nullptr ? "" : "; did you mean '" + *nearest + "'?";
}

}  // namespace plimsoll
