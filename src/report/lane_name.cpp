#include "report/lane_name.h"

#include <algorithm>

namespace plimsoll::report {

std::string_view lane_name(const program::Program& program, program::Lane lane) {
  const auto is_on_device = [](const program::Residence& r) { return r.space == Space::kDevice; };
  const bool has_device = std::ranges::any_of(program.residences, is_on_device);
  return lane == program::Lane::kHostToDevice && !has_device ? "feeds" : to_string(lane);
}

}  // namespace plimsoll::report
