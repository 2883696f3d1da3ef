#pragma once

#include <cstdint>

#include "core/result.h"
#include "formats/file_reader.h"

namespace plimsoll::formats {

/// The CRC-32C of bytes [begin, end) of a file, after those that `before` is of. Requires: they exist.
///
/// Errors: io. Memory: 64 KiB. Cost: reads them once.
Result<uint32_t> try_checksum(const FileReader& file, int64_t begin, int64_t end, uint32_t before = 0);

}  // namespace plimsoll::formats
