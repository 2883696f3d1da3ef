#pragma once

#include <string_view>

#include "program/program.h"

namespace plimsoll::report {

/// What a lane does in this program, for people. Where the program has nothing on a device, what it runs beside the
/// compute lane to bring inputs in are "feeds", and no way to a device.
std::string_view lane_name(const program::Program& program, program::Lane lane);

}  // namespace plimsoll::report
