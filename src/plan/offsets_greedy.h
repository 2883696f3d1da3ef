#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/offsets_boxes.h"
#include "plan/offsets_taken.h"

namespace plimsoll::plan {

/// What a greedy order puts first. The last three put long-lived buffers below short ones, as a stack would.
enum class BoxOrder { kSize, kArea, kLength, kLoad };
inline constexpr BoxOrder kBoxOrders[] = {BoxOrder::kSize, BoxOrder::kArea, BoxOrder::kLength, BoxOrder::kLoad};

/// Into which gap a buffer goes: the lowest that is large enough, or the smallest.
enum class GapChoice { kFirst, kBest };

/// One number a box, larger first. Area and length use the duration, load is the fullest section the box is alive in.
std::vector<double> order_keys(const Boxes& boxes, BoxOrder order);

/// Box indices by falling key; equal keys in index order.
std::vector<int32_t> sort_by_keys(std::span<const double> keys);

/// From so many boxes on, a tree finds gaps about as soon as a look at every placed box does, or sooner. Measured on
/// training steps of 9,000 boxes with random sizes; with the sizes of GPT-2, of 70,000 boxes, the tree takes a 16th.
inline constexpr int kLeastTreeBoxes = 8000;

/// Packs boxes one after another, each into a gap between those placed before it.
class GreedyPacker {
 public:
  explicit GreedyPacker(const Boxes& boxes, int least_tree_boxes = kLeastTreeBoxes);

  /// Fixes a box before the others are packed.
  void fix(int32_t box, int64_t offset);

  /// Places every box of `order` that is not fixed.
  ///
  /// Cost: O(n^2) comparisons; with the tree O(n log^2 n) where layers repeat, since equal boxes lie side by side.
  void pack(std::span<const int32_t> order, GapChoice choice);

  const std::vector<int64_t>& offsets() const { return offsets_; }
  int64_t height() const { return height_; }

 private:
  struct Placed {
    int64_t offset, end;
    int32_t first, last;
  };
  int64_t find_gap(const Box& box, GapChoice choice);

  const Boxes& boxes_;
  std::vector<int64_t> offsets_;
  std::vector<Placed> placed_;      // without the tree: by rising offset
  std::optional<TakenBytes> tree_;  // the same bytes
  ExtentMerge in_the_way_;          // of the box that is being placed
  int64_t height_ = 0;
};

/// Offsets by box of a packing, and its height.
struct Packing {
  std::vector<int64_t> offsets;
  int64_t height = 0;
};

/// The exact packing when any two boxes are nested in time or disjoint; nothing otherwise. Height = lower bound unless
/// alignment pads. Cost: O(n).
std::optional<Packing> try_stack(const Boxes& boxes);

/// The best of all orders and gap choices; stops at the first that is not above `target`.
Packing pack_greedily(const Boxes& boxes, int64_t target);

/// Moves boxes that define the height forward in the order and packs again, `rounds` times or until `target` is met.
/// Source: iterated local search in the space of orders; moves drawn from Philox, so equal input gives equal output.
Packing improve_order(const Boxes& boxes, int64_t target, int rounds, double deadline);

}  // namespace plimsoll::plan
