#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "program/program.h"

namespace plimsoll::program {

/// The program as JSON for files: keys in a fixed order, one kernel, buffer, residence or instruction a line, so that
/// two programs can be compared with a line diff. A field that holds its default is left out. Equal programs give equal
/// bytes.
///
///     {"format_version":1,
///     "name":"tiny",
///     …
///     "residences":[
///      {"buffer":0,"range":[0,4096],"space":"host","offset_bytes":64,"live":[0,0,1,12]},
///     …
///     "segments":[
///     {"name":"step","trips":4,"instructions":[
///      {"lane":"compute","kind":"compute","kernel":3,"operands":[[7,0,4096,1,"read"],[8,0,4096,1,"write"]],
///       "waits":[["host_to_device",0],["compute",5,"previous"]],"when":"last","label":"block.0.fc"}
///
/// An operand is [residence, begin, end, version, role]; a state entry is [residence, version].
std::string to_json(const Program& program);

/// Reads what `to_json` writes. Strings must be UTF-8.
///
/// Errors: corrupt with the path of the first field that is missing, unknown, of the wrong type or out of range; what
/// it returns has passed check_structure.
Result<Program> try_parse_program(std::string_view text);

}  // namespace plimsoll::program
