#include "program/program.h"

namespace plimsoll::program {
namespace {

template <size_t N, class Enum>
std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
  return names[static_cast<size_t>(value)];
}

}  // namespace

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
