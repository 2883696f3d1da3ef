#include "formats/file_checksum.h"

#include <algorithm>
#include <vector>

#include "formats/crc32c.h"

namespace plimsoll::formats {

Result<uint32_t> try_checksum(const FileReader& file, int64_t begin, int64_t end, uint32_t before) {
  std::vector<std::byte> buffer(64 << 10);
  uint32_t sum = before;
  while (begin < end) {
    const auto chunk = std::span(buffer).first(std::min(buffer.size(), static_cast<size_t>(end - begin)));
    PLIMSOLL_RETURN_IF_ERROR(file.try_read(begin, chunk));
    sum = crc32c(chunk, sum);
    begin += static_cast<int64_t>(chunk.size());
  }
  return sum;
}

}  // namespace plimsoll::formats
