#include "core/tensor_desc.h"

namespace plimsoll {

std::optional<int64_t> try_size_bytes(const TensorDesc& desc) {
  const std::optional<int64_t> numel = try_stored_numel(desc.shape, desc.layout);
  return numel ? checked_multiply(*numel, size_bytes(desc.dtype)) : std::nullopt;
}

std::string to_string(const TensorDesc& desc) {
  std::string out = std::string(to_string(desc.dtype)) + to_string(desc.shape);
  if (!desc.layout.is_plain()) out += "@" + to_string(desc.layout, desc.shape.rank());
  return out;
}

}  // namespace plimsoll
