#include "core/layout.h"

namespace plimsoll {

int64_t stored_numel(const Shape& shape, const Layout& layout) {
  Shape padded = shape;
  for (const Layout::Block& block : layout.blocks) {
    if (block.axis < 0) continue;
    int64_t& dim = padded[block.axis];
    dim = (dim + block.size - 1) / block.size * block.size;
  }
  return padded.numel();
}

std::string to_string(const Layout& layout, int rank) {
  if (layout.is_plain()) return "plain";
  std::string out = "order(";
  for (int i = 0; i < rank; ++i) {
    if (i > 0) out += ',';
    out += std::to_string(layout.is_permuted ? layout.order[static_cast<size_t>(i)] : i);
  }
  out += ')';
  for (const Layout::Block& block : layout.blocks)
    if (block.axis >= 0) out += "+" + std::to_string(block.axis) + "x" + std::to_string(block.size);
  return out;
}

}  // namespace plimsoll
