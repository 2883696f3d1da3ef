#include "plan/offsets_search.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/bytes.h"

namespace plimsoll::plan {
namespace {

// Twice this plus any size still fits an int64, so that placed boxes need no test in the inner loops.
constexpr int64_t kPlaced = std::numeric_limits<int64_t>::max() / 4;
/// Sections that one decision may refresh. Two floating buffers can lift each other a little at a time, all the way up
/// to the capacity: with terabytes of capacity and small buffers that would take hours, so the run gives up instead.
constexpr int64_t kMostRefreshes = 10'000;
constexpr int64_t kMostRefreshesASection = 16;
/// What such a run counts as, beside its nodes, so that those that follow end too.
constexpr int64_t kNodesOfGivingUp = 200;
constexpr int64_t kClockPeriodNodes = 256;

}  // namespace

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

OffsetSearch::OffsetSearch(const Boxes& boxes, const OffsetTechniques& techniques)
    : boxes_(boxes.boxes), techniques_(techniques), initial_load_(boxes.load) {
  member_begin_.assign(boxes.sections + 1, 0);
  first_box_.assign(boxes.sections + 1, 0);
  for (const Box& box : boxes_) {
    ++first_box_[box.first + 1];
    for (int32_t k = box.first; k < box.last; ++k) ++member_begin_[k + 1];
    size_.push_back(box.size);
  }
  for (int32_t k = 0; k < boxes.sections; ++k) {
    member_begin_[k + 1] += member_begin_[k];
    first_box_[k + 1] += first_box_[k];
  }
  members_.resize(member_begin_.back());
  std::vector<int32_t> fill(member_begin_.begin(), member_begin_.end() - 1);
  for (int32_t i = 0; i < boxes.count(); ++i) {
    for (int32_t k = boxes_[i].first; k < boxes_[i].last; ++k) members_[fill[k]++] = i;
  }
}

void OffsetSearch::reset(int64_t capacity) {
  capacity_ = capacity;
  nodes_ = 0;
  low_.assign(boxes_.size(), 0);
  offset_.assign(boxes_.size(), 0);
  floating_.assign(boxes_.size(), 0);
  load_ = initial_load_;
  section_.assign(load_.size(), {});
  crossing_.assign(load_.size(), 0);
  for (const Box& box : boxes_) {
    for (int32_t k = box.first; k + 1 < box.last; ++k) ++crossing_[k];
  }
  is_dirty_.assign(load_.size(), 0);
  dirty_.clear();
  floating_list_.clear();
  parts_.clear();
  frames_.clear();
  todo_ = -1;
}

SearchOutcome OffsetSearch::run(int64_t capacity, std::span<const int32_t> rank, int64_t node_limit, double deadline) {
  reset(capacity);
  gives_up_ = false;
  for (int32_t k = 0; k < static_cast<int32_t>(load_.size()); ++k) {
    if (!refresh(k)) return SearchOutcome::kImpossible;
  }
  saved_sections_.clear();
  saved_boxes_.clear();
  push_part(0, static_cast<int32_t>(load_.size()), -1);
  while (todo_ >= 0) {
    const Part part = parts_[todo_];
    todo_ = part.next;
    if (split(part)) continue;
    if (++nodes_ > node_limit) return SearchOutcome::kLimit;
    if (nodes_ % kClockPeriodNodes == 0 && monotonic_seconds() > deadline) return SearchOutcome::kLimit;
    const int32_t box = pick(part, rank);
    const bool goes_on = box >= 0 ? descend(part, box) : backtrack(part.parent);
    if (gives_up_) {
      nodes_ += kNodesOfGivingUp;
      return SearchOutcome::kLimit;
    }
    if (!goes_on) return SearchOutcome::kImpossible;
  }
  return SearchOutcome::kSolved;
}

void OffsetSearch::push_part(int32_t begin, int32_t end, int32_t parent) {
  parts_.push_back({begin, end, parent, todo_});
  todo_ = static_cast<int32_t>(parts_.size()) - 1;
}

// Replaces `part` by its independent pieces, the ones with nothing left dropped; false if it is one piece.
bool OffsetSearch::split(const Part& part) {
  int32_t begin = part.begin;
  while (begin < part.end && load_[begin] == 0) ++begin;
  int32_t end = part.end;
  while (end > begin && load_[end - 1] == 0) --end;
  if (begin == end) return true;
  if (!techniques_.decompose) return false;
  bool is_cut = begin != part.begin || end != part.end;
  for (int32_t k = begin; k + 1 < end && !is_cut; ++k) is_cut = crossing_[k] == 0;
  if (!is_cut) return false;
  for (int32_t k = begin; k < end; ++k) {
    if (k + 1 < end && crossing_[k] != 0) continue;
    if (load_[begin] != 0 || begin < k) push_part(begin, k + 1, part.parent);
    begin = k + 1;
  }
  return true;
}

// Lowest first: this fills the arena from the bottom, and boxes that compete for the same ground are decided together.
int32_t OffsetSearch::pick(const Part& part, std::span<const int32_t> rank) const {
  int32_t best = -1;
  int64_t best_low = kPlaced;
  for (int32_t i = first_box_[part.begin]; i < first_box_[part.end]; ++i) {
    if (low_[i] > best_low || low_[i] == kPlaced || floating_[i]) continue;
    if (low_[i] == best_low && rank[i] > rank[best]) continue;
    if (!is_supported_lowest(i)) continue;
    best = i;
    best_low = low_[i];
  }
  return best;
}

bool OffsetSearch::is_supported_lowest(int32_t box) const {
  for (int32_t k = boxes_[box].first; k < boxes_[box].last; ++k) {
    if (section_[k].top <= low_[box]) return false;
  }
  return true;
}

bool OffsetSearch::descend(const Part& part, int32_t box) {
  const auto index = static_cast<int32_t>(frames_.size());
  frames_.push_back({saved_boxes_.size(), saved_sections_.size(), floating_list_.size(), parts_.size(), box, part.begin,
                     part.end, part.parent, todo_, false});
  const bool is_free = !place(box);
  frames_[index].is_free = is_free && techniques_.commit_free;
  if (!propagate()) return backtrack(index);
  push_part(part.begin, part.end, index);
  return true;
}

// Takes back decisions from `index` up, until one has an alternative that is not refuted at once; false if none has.
bool OffsetSearch::backtrack(int32_t index) {
  while (index >= 0 && !gives_up_) {
    const Frame frame = frames_[index];
    undo(frame);
    frames_.resize(index);
    if (!frame.is_free && postpone(frame)) {
      push_part(frame.begin, frame.end, frame.parent);
      return true;
    }
    index = frame.parent;
  }
  return false;
}

// The second branch: the box, and all that are equal to it, rest on something not placed yet.
bool OffsetSearch::postpone(const Frame& frame) {
  const int32_t box = frame.box;
  const int64_t low = low_[box];
  const int64_t support = lowest_support(box);
  if (support >= kPlaced) return false;
  const auto raise = [&](int32_t i) { set_low(i, align_up(support, boxes_[i].alignment), true); };
  raise(box);
  if (techniques_.twins) {
    const auto is_twin = [&](int32_t i) { return boxes_[i].same_shape(boxes_[box]); };
    for (int32_t i = box - 1; i >= 0 && is_twin(i); --i) {
      if (low_[i] == low) raise(i);
    }
    for (int32_t i = box + 1; i < static_cast<int32_t>(boxes_.size()) && is_twin(i); ++i) {
      if (low_[i] == low) raise(i);
    }
  }
  return propagate();
}

// Returns whether the placement lifted any other box.
bool OffsetSearch::place(int32_t box) {
  const int64_t low = low_[box];
  mark_dirty(box, low);
  saved_boxes_.push_back({low, box, floating_[box] != 0, true});
  offset_[box] = low;
  low_[box] = kPlaced;
  for (int32_t k = boxes_[box].first; k < boxes_[box].last; ++k) {
    load_[k] -= size_[box];
    crossing_[k] -= k + 1 < boxes_[box].last;
  }
  return lift_neighbours(box, low + size_[box]);
}

// The boxes alive with `box` are those alive in its first section and those that begin while it is alive.
bool OffsetSearch::lift_neighbours(int32_t box, int64_t top) {
  bool lifted = false;
  const int32_t first = boxes_[box].first;
  for (int32_t j = member_begin_[first]; j < member_begin_[first + 1]; ++j) lifted |= lift(members_[j], top);
  for (int32_t i = first_box_[first + 1]; i < first_box_[boxes_[box].last]; ++i) lifted |= lift(i, top);
  return lifted;
}

bool OffsetSearch::lift(int32_t box, int64_t top) {
  if (low_[box] == kPlaced) return false;
  const int64_t low = align_up(top, boxes_[box].alignment);
  if (low_[box] > low || (low_[box] == low && !floating_[box])) return false;
  const bool lifted = low_[box] < low;
  set_low(box, low, false);
  return lifted;
}

void OffsetSearch::set_low(int32_t box, int64_t low, bool floating) {
  saved_boxes_.push_back({low_[box], box, floating_[box] != 0, false});
  if (low_[box] != low) {
    mark_dirty(box, low_[box]);
    low_[box] = low;
  }
  if (floating && !floating_[box]) floating_list_.push_back(box);
  floating_[box] = floating;
}

// Only sections whose floor or tops came from this box can change.
void OffsetSearch::mark_dirty(int32_t box, int64_t old_low) {
  const int64_t old_top = old_low + size_[box];
  for (int32_t k = boxes_[box].first; k < boxes_[box].last; ++k) {
    const Section& section = section_[k];
    if (is_dirty_[k] || (section.floor != old_low && section.next_top < old_top)) continue;
    is_dirty_[k] = 1;
    dirty_.push_back(k);
  }
}

bool OffsetSearch::propagate() {
  refreshes_left_ = kMostRefreshes + kMostRefreshesASection * static_cast<int64_t>(section_.size());
  bool possible = refresh_dirty();
  while (possible && techniques_.chase_floating && chase_floating()) possible = refresh_dirty();
  for (int32_t k : dirty_) is_dirty_[k] = 0;
  dirty_.clear();
  return possible;
}

bool OffsetSearch::refresh_dirty() {
  while (!dirty_.empty()) {
    if (--refreshes_left_ < 0) {
      gives_up_ = true;
      return false;
    }
    const int32_t k = dirty_.back();
    dirty_.pop_back();
    is_dirty_[k] = 0;
    saved_sections_.push_back({k, section_[k]});
    if (!refresh(k)) return false;
  }
  return true;
}

// Returns whether any floating box rose.
bool OffsetSearch::chase_floating() {
  bool rose = false;
  for (int32_t box : floating_list_) {
    if (!floating_[box] || low_[box] == kPlaced) continue;
    const int64_t low = align_up(lowest_support(box), boxes_[box].alignment);
    if (low <= low_[box]) continue;
    set_low(box, std::min(low, kPlaced - 1), true);
    rose = true;
  }
  return rose;
}

bool OffsetSearch::refresh(int32_t section) {
  Section result{kPlaced, kPlaced * 2, kPlaced * 2, -1};
  for (int32_t j = member_begin_[section]; j < member_begin_[section + 1]; ++j) {
    const int32_t i = members_[j];
    const int64_t top = low_[i] + size_[i];
    result.floor = std::min(result.floor, low_[i]);
    if (top >= result.next_top) continue;
    if (top < result.top) {
      result.next_top = result.top;
      result.top = top;
      result.top_box = i;
    } else {
      result.next_top = top;
    }
  }
  section_[section] = result;
  return load_[section] == 0 || result.floor + load_[section] <= capacity_;
}

// The lowest top on which `box` could rest if it does not rest on what is placed already.
int64_t OffsetSearch::lowest_support(int32_t box) const {
  int64_t support = kPlaced;
  for (int32_t k = boxes_[box].first; k < boxes_[box].last; ++k) {
    support = std::min(support, section_[k].top_box == box ? section_[k].next_top : section_[k].top);
  }
  return support;
}

void OffsetSearch::undo(const Frame& frame) {
  while (saved_boxes_.size() > frame.boxes_mark) {
    const SavedBox& saved = saved_boxes_.back();
    low_[saved.box] = saved.low;
    floating_[saved.box] = saved.floating;
    if (saved.is_placement) {
      const Box& box = boxes_[saved.box];
      for (int32_t k = box.first; k < box.last; ++k) {
        load_[k] += box.size;
        crossing_[k] += k + 1 < box.last;
      }
    }
    saved_boxes_.pop_back();
  }
  while (saved_sections_.size() > frame.sections_mark) {
    section_[saved_sections_.back().section] = saved_sections_.back().value;
    saved_sections_.pop_back();
  }
  floating_list_.resize(frame.floating_mark);
  parts_.resize(frame.parts_mark);
  todo_ = frame.todo;
}

}  // namespace plimsoll::plan
