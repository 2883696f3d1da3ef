#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>

namespace plimsoll {

/// An index into one particular list; `Tag` keeps ids of different lists apart. -1 means none.
template <class Tag>
struct Id {
  int32_t value = -1;

  constexpr bool is_valid() const { return value >= 0; }
  constexpr size_t index() const { return static_cast<size_t>(value); }
  friend constexpr auto operator<=>(Id, Id) = default;
  friend std::ostream& operator<<(std::ostream& out, Id id) { return out << id.value; }
};

}  // namespace plimsoll

template <class Tag>
struct std::hash<plimsoll::Id<Tag>> {
  size_t operator()(plimsoll::Id<Tag> id) const noexcept { return std::hash<int32_t>{}(id.value); }
};
