#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace plimsoll::formats {

/// One line of an offset problem: a buffer alive in [lower, upper), `size` bytes.
struct OffsetRow {
  std::string id;
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t size = 0;

  bool operator==(const OffsetRow&) const = default;
};

/// Reads `id,lower,upper,size` lines, the names in the first line; spaces around fields and empty lines are ignored.
///
/// Errors: corrupt, with `name` and the line number, for a wrong header, a wrong number of fields, a field that is no
/// integer of 64 bits, an empty or repeated id, lower >= upper, or a negative size.
Result<std::vector<OffsetRow>> try_parse_offsets_csv(std::string_view text, const std::string& name);

/// The same, from a file. Errors: those above, and io.
Result<std::vector<OffsetRow>> try_read_offsets_csv(const std::string& path);

}  // namespace plimsoll::formats
