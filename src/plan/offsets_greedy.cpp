#include "plan/offsets_greedy.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/bytes.h"
#include "core/philox.h"
#include "plan/offsets_search.h"

namespace plimsoll::plan {
namespace {

double order_key(const Boxes& boxes, const Box& box, BoxOrder order) {
  const double length = box.duration;
  switch (order) {
    case BoxOrder::kSize: return static_cast<double>(box.size);
    case BoxOrder::kArea: return static_cast<double>(box.size) * length;
    case BoxOrder::kLength: return length;
    case BoxOrder::kLoad: break;
  }
  const auto load = boxes.load.begin();
  return static_cast<double>(*std::max_element(load + box.first, load + box.last));
}

Packing pack_in_order(const Boxes& boxes, std::span<const int32_t> order, GapChoice choice) {
  GreedyPacker packer(boxes);
  packer.pack(order, choice);
  return {packer.offsets(), packer.height()};
}

// Puts one of the boxes that reach the height somewhere earlier in the order.
void move_forward(const Boxes& boxes, const Packing& packing, const Philox::Block& random,
                  std::vector<int32_t>& order) {
  std::vector<size_t> highest;
  for (size_t at = 0; at < order.size(); ++at) {
    if (packing.offsets[order[at]] + boxes.boxes[order[at]].size == packing.height) highest.push_back(at);
  }
  const size_t from = highest[random[0] % highest.size()];
  const size_t to = random[1] % (from + 1);
  std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
}

// Goes up through what is in a box's way.
class GapSearch {
 public:
  GapSearch(const Box& box, GapChoice choice) : box_(box), choice_(choice) {}

  // Takes note of the next bytes that are in the way, in the order of where they begin.
  bool is_over_at(int64_t begin, int64_t end) {
    const int64_t gap = begin - cursor_;
    if (gap >= box_.size && gap < best_gap_) {
      best_ = cursor_;
      best_gap_ = gap;
      if (choice_ == GapChoice::kFirst) return true;
    }
    cursor_ = std::max(cursor_, align_up(end, box_.alignment));
    return false;
  }

  // All below it has been seen.
  int64_t cursor() const { return cursor_; }
  int64_t offset() const { return best_ >= 0 ? best_ : cursor_; }

 private:
  const Box& box_;
  GapChoice choice_;
  int64_t cursor_ = 0;
  int64_t best_ = -1;
  int64_t best_gap_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

std::vector<double> order_keys(const Boxes& boxes, BoxOrder order) {
  std::vector<double> keys;
  for (const Box& box : boxes.boxes) keys.push_back(order_key(boxes, box, order));
  return keys;
}

std::vector<int32_t> sort_by_keys(std::span<const double> keys) {
  std::vector<int32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return keys[a] > keys[b]; });
  return order;
}

GreedyPacker::GreedyPacker(const Boxes& boxes, int least_tree_boxes) : boxes_(boxes), offsets_(boxes.boxes.size(), -1) {
  if (boxes.count() >= least_tree_boxes) tree_.emplace(boxes.sections);
}

void GreedyPacker::fix(int32_t box, int64_t offset) {
  const Box& fixed = boxes_.boxes[box];
  const Placed placed{offset, offset + fixed.size, fixed.first, fixed.last};
  if (tree_) {
    tree_->take(placed.first, placed.last, {placed.offset, placed.end});
  } else {
    const auto above = [](int64_t value, const Placed& other) { return value < other.offset; };
    placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), offset, above), placed);
  }
  offsets_[box] = offset;
  height_ = std::max(height_, placed.end);
}

void GreedyPacker::pack(std::span<const int32_t> order, GapChoice choice) {
  for (int32_t box : order) {
    if (offsets_[box] < 0) fix(box, find_gap(boxes_.boxes[box], choice));
  }
}

int64_t GreedyPacker::find_gap(const Box& box, GapChoice choice) {
  GapSearch search(box, choice);
  if (tree_) {
    tree_->find(box.first, box.last, in_the_way_);
    while (true) {
      const Extent extent = in_the_way_.lowest_after(search.cursor());
      if (extent.end == 0 || search.is_over_at(extent.begin, extent.end)) break;
    }
  } else {
    for (const Placed& placed : placed_) {
      if (placed.first >= box.last || box.first >= placed.last) continue;
      if (search.is_over_at(placed.offset, placed.end)) break;
    }
  }
  return search.offset();
}

std::optional<Packing> try_stack(const Boxes& boxes) {
  Packing packing{std::vector<int64_t>(boxes.boxes.size()), 0};
  std::vector<int32_t> open;
  for (int32_t i = 0; i < boxes.count(); ++i) {
    const Box& box = boxes.boxes[i];
    while (!open.empty() && boxes.boxes[open.back()].last <= box.first) open.pop_back();
    int64_t floor = 0;
    if (!open.empty()) {
      const Box& below = boxes.boxes[open.back()];
      if (below.last < box.last) return std::nullopt;
      floor = packing.offsets[open.back()] + below.size;
    }
    packing.offsets[i] = align_up(floor, box.alignment);
    packing.height = std::max(packing.height, packing.offsets[i] + box.size);
    open.push_back(i);
  }
  return packing;
}

Packing pack_greedily(const Boxes& boxes, int64_t target) {
  Packing best{{}, std::numeric_limits<int64_t>::max()};
  for (BoxOrder order : kBoxOrders) {
    const std::vector<int32_t> sorted = sort_by_keys(order_keys(boxes, order));
    for (GapChoice choice : {GapChoice::kFirst, GapChoice::kBest}) {
      Packing packing = pack_in_order(boxes, sorted, choice);
      if (packing.height < best.height) best = std::move(packing);
      if (best.height <= target) return best;
    }
  }
  return best;
}

Packing improve_order(const Boxes& boxes, int64_t target, int rounds, double deadline) {
  const Philox random(0);
  std::vector<int32_t> order = sort_by_keys(order_keys(boxes, BoxOrder::kArea));
  Packing best = pack_in_order(boxes, order, GapChoice::kFirst);
  for (int round = 0; round < rounds && best.height > target && monotonic_seconds() < deadline; ++round) {
    std::vector<int32_t> moved = order;
    move_forward(boxes, best, random(round, 0), moved);
    Packing packing = pack_in_order(boxes, moved, GapChoice::kFirst);
    if (packing.height > best.height) continue;
    best = std::move(packing);
    order = std::move(moved);
  }
  return best;
}

}  // namespace plimsoll::plan
