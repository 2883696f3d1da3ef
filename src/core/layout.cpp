#include "core/layout.h"

#include <algorithm>
#include <limits>

namespace plimsoll {
namespace {

/// What of a layout is read.
Layout without_unread(const Layout& layout, int rank) {
  Layout out;
  out.is_permuted = layout.is_permuted;
  if (layout.is_permuted) std::copy_n(layout.order.begin(), rank, out.order.begin());
  for (size_t i = 0; i < layout.blocks.size() && layout.blocks[i].axis >= 0; ++i) out.blocks[i] = layout.blocks[i];
  return out;
}

/// The extent of an axis is stored in multiples of this: an axis may have several blocks.
std::optional<int64_t> try_multiple_of(const Layout& layout, int axis) {
  std::optional<int64_t> out = 1;
  for (const Layout::Block& block : layout.blocks)
    if (out && block.axis == axis) out = checked_multiply(*out, block.size);
  return out;
}

}  // namespace

bool is_sound(const Layout& layout, int rank) {
  if (layout != without_unread(layout, rank)) return false;
  uint32_t seen = 0;
  for (int i = 0; layout.is_permuted && i < rank; ++i) {
    const auto axis = layout.order[static_cast<size_t>(i)];
    if (axis < 0 || axis >= rank || (seen >> axis & 1) != 0) return false;
    seen |= 1u << axis;
  }
  return std::ranges::all_of(layout.blocks, [rank](const Layout::Block& block) {
    return block.axis < 0 || (block.axis < rank && block.size >= 1);
  });
}

std::optional<int64_t> try_stored_numel(const Shape& shape, const Layout& layout) {
  if (!is_sound(layout, shape.rank()) || !shape.try_numel()) return std::nullopt;
  Shape padded = shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::optional<int64_t> multiple = try_multiple_of(layout, axis);
    if (!multiple || shape[axis] > std::numeric_limits<int64_t>::max() - *multiple) return std::nullopt;
    padded[axis] = (shape[axis] + *multiple - 1) / *multiple * *multiple;
  }
  return padded.try_numel();
}

int64_t stored_numel(const Shape& shape, const Layout& layout) {
  const std::optional<int64_t> n = try_stored_numel(shape, layout);
  PLIMSOLL_CHECK(n.has_value(), to_string(shape), " ", to_string(layout, shape.rank()));
  return *n;
}

std::string to_string(const Layout& layout, int rank) {
  std::string out = layout.is_permuted ? "order(" : "plain";
  for (int i = 0; layout.is_permuted && i < rank; ++i)
    out += (i > 0 ? "," : "") + std::to_string(layout.order[static_cast<size_t>(i)]);
  if (layout.is_permuted) out += ')';
  for (const Layout::Block& block : layout.blocks)
    if (block.axis >= 0) out += "+" + std::to_string(block.axis) + "x" + std::to_string(block.size);
  return out;
}

}  // namespace plimsoll
