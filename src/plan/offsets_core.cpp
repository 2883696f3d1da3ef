#include "plan/offsets_core.h"

#include <algorithm>
#include <limits>

#include "plan/offsets_restarts.h"

namespace plimsoll::plan {
namespace {

// Sections at least this full, relative to the fullest, make the core.
constexpr double kFullness[] = {1.0, 0.99, 0.98, 0.97, 0.95, 0.93, 0.9, 0.87, 0.83, 0.8};
constexpr int kMostCoreBoxes = 5000;
constexpr int64_t kDescents = 6;

std::vector<int32_t> core_of(const Boxes& boxes, double fullness) {
  const auto least = static_cast<double>(boxes.max_load()) * fullness;
  std::vector<int32_t> core;
  for (int32_t i = 0; i < boxes.count(); ++i) {
    const Box& box = boxes.boxes[i];
    const auto load = boxes.load.begin();
    if (static_cast<double>(*std::max_element(load + box.first, load + box.last)) >= least) core.push_back(i);
  }
  return core;
}

Boxes boxes_of(const Boxes& boxes, std::span<const int32_t> core) {
  std::vector<Interval> lifetimes;
  std::vector<int32_t> ids;
  for (int32_t i : core) {
    const Box& box = boxes.boxes[i];
    ids.push_back(static_cast<int32_t>(lifetimes.size()));
    lifetimes.push_back({box.first, box.last, box.size, box.alignment});
  }
  return make_boxes(lifetimes, ids);
}

}  // namespace

CoreResult pack_core_first(const Boxes& boxes, int64_t target, const OffsetOptions& options, double deadline) {
  CoreResult result{{{}, std::numeric_limits<int64_t>::max()}, 0};
  for (double fullness : kFullness) {
    const std::vector<int32_t> core = core_of(boxes, fullness);
    if (static_cast<int>(core.size()) > kMostCoreBoxes || monotonic_seconds() > deadline) break;
    const Boxes core_boxes = boxes_of(boxes, core);
    RestartedSearch search(core_boxes, options.techniques);
    const SearchOutcome outcome = search.run(target, kDescents * core_boxes.count(), deadline);
    result.nodes += search.nodes();
    if (outcome != SearchOutcome::kSolved) continue;
    for (BoxOrder order : kBoxOrders) {
      GreedyPacker packer(boxes);
      for (int32_t i = 0; i < core_boxes.count(); ++i) packer.fix(core[core_boxes.boxes[i].id], search.offsets()[i]);
      packer.pack(sort_by_keys(order_keys(boxes, order)), GapChoice::kFirst);
      if (packer.height() < result.packing.height) result.packing = {packer.offsets(), packer.height()};
      if (result.packing.height <= target) return result;
    }
  }
  return result;
}

}  // namespace plimsoll::plan
