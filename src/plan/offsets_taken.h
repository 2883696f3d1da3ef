#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace plimsoll::plan {

/// Bytes [begin, end).
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
};

/// A set of addresses, as extents in rising order that neither overlap nor touch.
class Extents {
 public:
  /// Cost: O(log extents) comparisons, and a move of those above.
  void add(Extent extent);

  std::span<const Extent> all() const { return extents_; }

 private:
  std::vector<Extent> extents_;
};

/// Goes up through the union of some sets.
class ExtentMerge {
 public:
  void clear() { ahead_.clear(); }
  void add(const Extents& set) { ahead_.push_back(set.all()); }

  /// Of all extents that end after `address` one that begins lowest, or an empty one.
  ///
  /// Requires: no lower address than before. Cost: O(sets), and O(1) for each extent that it leaves below.
  Extent lowest_after(int64_t address);

 private:
  std::vector<std::span<const Extent>> ahead_;  ///< what is left of each set
};

/// Which bytes are taken at which time.
///
/// A binary tree over the sections. Each node knows what is taken during all of its sections (`whole`; noted once, at
/// the highest node of which that is so) and in any of them (`any`). With four sections, bytes taken in [1, 4) are
/// `whole` of the nodes [1, 2) and [2, 4), and `any` of those and of [0, 2) and [0, 4). Boxes of
/// repeated layers lie side by side, so the sets are few extents however many boxes there are.
class TakenBytes {
 public:
  explicit TakenBytes(int32_t sections);

  /// Cost: O(log sections) sets.
  void take(int32_t first, int32_t last, Extent extent);

  /// Fills `out` with O(log sections) sets, whose union is what is taken in some section of [first, last).
  void find(int32_t first, int32_t last, ExtentMerge& out) const;

 private:
  struct Node {
    Extents whole, any;
  };
  /// Calls visit(node's index, whether [first, last) covers it) for each node that shares a section with [first, last),
  /// down to those that it covers.
  template <class Visit>
  void descend(int32_t first, int32_t last, Visit visit) const;

  int32_t width_ = 1;        ///< sections of the root, a power of two
  std::vector<Node> nodes_;  ///< the root is 1, the halves of i are 2i and 2i + 1
};

}  // namespace plimsoll::plan
