#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/shape.h"

namespace plimsoll {

/// How a tensor's elements lie in memory: an order of its axes and, innermost, blocks of some of them.
///
/// A plain value, never a library's handle. The default is the plain row-major layout of any rank.
/// Example: nhwc of an [N,C,H,W] tensor is order {0,2,3,1}; nchw8c adds the block {axis 1, size 8}.
struct Layout {
  struct Block {
    int8_t axis = -1;
    int32_t size = 1;
    friend bool operator==(const Block&, const Block&) = default;
  };
  static constexpr int kMaxBlocks = 2;

  bool is_permuted = false;                     ///< false: `order` is the identity and not read
  std::array<int8_t, Shape::kMaxRank> order{};  ///< axes from outermost to innermost
  std::array<Block, kMaxBlocks> blocks{};       ///< inner blocks, outermost first; axis -1: none

  bool is_plain() const { return !is_permuted && blocks[0].axis < 0; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Whether the layout makes sense for tensors of this rank: the order names every axis once, blocks are of axes that
/// exist, and whatever is not read is as a new Layout has it, so that equal layouts are equal values.
bool is_sound(const Layout& layout, int rank);

/// The number of elements stored, padding of partial blocks included. Requires: try_stored_numel gives one.
int64_t stored_numel(const Shape& shape, const Layout& layout);
/// The same, or nothing where shape or layout make no sense or the number overflows int64.
std::optional<int64_t> try_stored_numel(const Shape& shape, const Layout& layout);

/// "plain", "order(0,2,3,1)", "plain+1x8", "order(0,2,3,1)+1x8+0x2": layouts that differ print differently.
std::string to_string(const Layout& layout, int rank);

}  // namespace plimsoll
