#include "core/tensor_desc.h"

namespace plimsoll {

std::string to_string(const TensorDesc& desc) {
  std::string out = std::string(to_string(desc.dtype)) + to_string(desc.shape);
  if (!desc.layout.is_plain()) out += "@" + to_string(desc.layout, desc.shape.rank());
  return out;
}

}  // namespace plimsoll
