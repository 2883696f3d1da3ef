#include "core/suggest.h"

#include <algorithm>
#include <vector>

namespace plimsoll {
namespace {

/// Levenshtein distance; names are short, so O(len²) is nothing.
size_t edit_distance(std::string_view a, std::string_view b) {
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
  return row[b.size()];
}

}  // namespace

std::string suggest(std::string_view wrong, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  size_t best_distance = 1 + std::max<size_t>(2, wrong.size() / 2);
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(wrong, candidate);
    if (distance >= best_distance) continue;
    best = &candidate;
    best_distance = distance;
  }
  return best == nullptr ? "" : "; did you mean '" + *best + "'?";
}

}  // namespace plimsoll
