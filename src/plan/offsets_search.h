#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/offsets_boxes.h"

namespace plimsoll::plan {

enum class SearchOutcome { kSolved, kImpossible, kLimit };

/// Depth-first search for a packing within a capacity.
///
/// Every buffer has a `low`: no solution below this node puts it lower. A node picks a buffer that rests on what is
/// already placed and under which no other unplaced buffer fits any more, and branches: it lies exactly at its low, or
/// it is *floating*: it must rest on a buffer that is not placed yet, so its low rises to the lowest top that any of
/// those can have. The two branches share no solution, and a solution whose buffers all rest on something is never
/// lost. A node fails where, in one section, the lowest low plus the bytes still unplaced exceed the capacity.
///
/// Example, capacity 5: a {sections 0-2, size 2}, b {0-1, size 3}, c {1-2, size 3}. Placing a at 0 lifts b and c to 2;
/// placing b at 2 leaves c alone, which lands at 2. Had b been placed at 0, a would be lifted to 3 and c could go to 0.
class OffsetSearch {
 public:
  OffsetSearch(const Boxes& boxes, const OffsetTechniques& techniques);

  /// Tries to pack within `capacity`. `rank[i]` orders boxes of equal low: the least is tried first.
  /// kLimit after `node_limit` nodes or when `deadline` (seconds of monotonic_seconds()) has passed; then another rank
  /// may do better.
  SearchOutcome run(int64_t capacity, std::span<const int32_t> rank, int64_t node_limit, double deadline);

  /// Offsets by box, valid after kSolved.
  const std::vector<int64_t>& offsets() const { return offset_; }
  /// Nodes visited by the last run.
  int64_t nodes() const { return nodes_; }

 private:
  struct Section {
    int64_t floor = 0;  // least low of the unplaced
    int64_t top = 0;    // least low + size of the unplaced
    int64_t next_top = 0;
    int32_t top_box = -1;
  };
  struct SavedSection {
    int32_t section;
    Section value;
  };
  struct SavedBox {
    int64_t low;
    int32_t box;
    bool floating;
    bool is_placement;
  };
  struct Part {  // a range of sections still to be packed; `parent` is the frame to blame if that fails
    int32_t begin, end, parent, next;
  };
  struct Frame {
    size_t boxes_mark, sections_mark, floating_mark, parts_mark;
    int32_t box, begin, end, parent, todo;
    bool is_free;
  };

  void reset(int64_t capacity);
  void push_part(int32_t begin, int32_t end, int32_t parent);
  bool split(const Part& part);
  int32_t pick(const Part& part, std::span<const int32_t> rank) const;
  bool is_supported_lowest(int32_t box) const;
  bool descend(const Part& part, int32_t box);
  bool backtrack(int32_t frame);
  bool postpone(const Frame& frame);
  bool place(int32_t box);
  bool lift_neighbours(int32_t box, int64_t top);
  bool lift(int32_t box, int64_t top);
  void set_low(int32_t box, int64_t low, bool floating);
  void mark_dirty(int32_t box, int64_t old_low);
  bool propagate();
  bool refresh_dirty();
  bool chase_floating();
  bool refresh(int32_t section);
  int64_t lowest_support(int32_t box) const;
  void undo(const Frame& frame);

  const std::vector<Box>& boxes_;
  const OffsetTechniques techniques_;
  int64_t capacity_ = 0;
  int64_t nodes_ = 0;

  std::vector<int64_t> initial_load_;
  std::vector<int32_t> member_begin_;  // boxes of section k: members_[member_begin_[k] .. member_begin_[k + 1])
  std::vector<int32_t> members_;
  std::vector<int32_t> first_box_;  // boxes that begin in section k: [first_box_[k], first_box_[k + 1])

  std::vector<int64_t> size_;    // contiguous copies: the inner loop of refresh() reads only these two
  int64_t refreshes_left_ = 0;   // of sections, for the decision at hand
  bool gives_up_ = false;        // a decision took more of them
  std::vector<int64_t> low_;     // kPlaced once placed
  std::vector<int64_t> offset_;  // where placed
  std::vector<uint8_t> floating_;
  std::vector<Section> section_;
  std::vector<int64_t> load_;      // unplaced bytes
  std::vector<int32_t> crossing_;  // unplaced boxes alive in section k and k + 1

  std::vector<uint8_t> is_dirty_;
  std::vector<int32_t> dirty_;
  std::vector<int32_t> floating_list_;
  std::vector<SavedBox> saved_boxes_;
  std::vector<SavedSection> saved_sections_;
  std::vector<Part> parts_;
  std::vector<Frame> frames_;
  int32_t todo_ = -1;
};

/// Seconds on a clock that never goes back; only differences mean anything.
double monotonic_seconds();

}  // namespace plimsoll::plan
