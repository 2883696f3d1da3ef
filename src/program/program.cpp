#include "program/program.h"

#include <algorithm>
#include <limits>

namespace plimsoll::program {
namespace {

template <size_t N, class Enum>
std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
  return names[static_cast<size_t>(value)];
}

bool is_sound(const Layout& layout, int rank) {
  uint32_t seen = 0;
  for (int i = 0; layout.is_permuted && i < rank; ++i) {
    const int axis = layout.order[static_cast<size_t>(i)];
    if (axis < 0 || axis >= rank || (seen >> axis & 1) != 0) return false;
    seen |= 1u << axis;
  }
  return std::ranges::all_of(layout.blocks, [rank](const Layout::Block& block) {
    return block.axis < 0 || (block.axis < rank && block.size >= 1);
  });
}

}  // namespace

std::optional<int64_t> try_size_bytes(const TensorDesc& desc) {
  if (!is_sound(desc.layout, desc.shape.rank())) return {};
  Shape padded = desc.shape;
  for (const Layout::Block& block : desc.layout.blocks) {
    if (block.axis < 0) continue;
    int64_t& extent = padded[block.axis];
    if (extent < 0 || extent > std::numeric_limits<int64_t>::max() - block.size) return {};
    extent = (extent + block.size - 1) / block.size * block.size;
  }
  const std::optional<int64_t> numel = padded.try_numel();
  return numel ? checked_multiply(*numel, size_bytes(desc.dtype)) : std::nullopt;
}

bool runs_in(When when, int64_t iteration, int64_t trips) {
  switch (when) {
    case When::kAlways: return true;
    case When::kFirst: return iteration == 0;
    case When::kNotFirst: return iteration > 0;
    case When::kLast: return iteration == trips - 1;
  }
  return true;
}

int64_t count_runs(When when, int64_t trips) {
  switch (when) {
    case When::kAlways: return trips;
    case When::kFirst:
    case When::kLast: return 1;
    case When::kNotFirst: return trips - 1;
  }
  return trips;
}

std::string_view to_string(Lane lane) {
  static constexpr std::array<std::string_view, kLaneCount> kNames{"compute",        "host_compute", "host_to_device",
                                                                   "device_to_host", "disk_read",    "disk_write"};
  return name_of(kNames, lane);
}

std::string_view to_string(Role role) {
  static constexpr std::array<std::string_view, 5> kNames{"read", "write", "update", "accumulate", "workspace"};
  return name_of(kNames, role);
}

std::string_view to_string(Kind kind) {
  static constexpr std::array<std::string_view, 7> kNames{"compute", "feed", "copy", "read", "write", "zero", "check"};
  return name_of(kNames, kind);
}

std::string_view to_string(When when) {
  static constexpr std::array<std::string_view, 4> kNames{"always", "first", "not_first", "last"};
  return name_of(kNames, when);
}

}  // namespace plimsoll::program
