#include "plan/offsets_taken.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

#include "plan/offsets_greedy.h"

namespace plimsoll::plan {
namespace {

Boxes random_boxes(uint32_t seed) {
  std::mt19937 random(seed);
  const int64_t alignments[] = {1, 4, 64};
  std::vector<Interval> buffers;
  for (int i = 0; i < 120; ++i) {
    const auto lower = static_cast<int64_t>(random() % 60);
    const auto length = 1 + static_cast<int64_t>(random() % (random() % 3 == 0 ? 50 : 5));
    buffers.push_back({lower, lower + length, 1 + static_cast<int64_t>(random() % 200),
                       alignments[seed % 2 == 0 ? 1 : random() % 3]});
  }
  std::vector<int32_t> ids(buffers.size());
  std::iota(ids.begin(), ids.end(), 0);
  return make_boxes(buffers, ids);
}

TEST(Extents, MergeWhereTheyTouchOrOverlap) {
  Extents set;
  for (const Extent extent : {Extent{10, 20}, Extent{40, 50}, Extent{60, 70}, Extent{20, 25}, Extent{5, 12}})
    set.add(extent);
  EXPECT_EQ(set.all().size(), 3u);
  set.add({24, 41});
  ASSERT_EQ(set.all().size(), 2u);
  EXPECT_EQ(set.all()[0].begin, 5);
  EXPECT_EQ(set.all()[0].end, 50);
}

TEST(TakenBytes, FindsWhatIsTakenInAnyOfTheSections) {
  TakenBytes taken(5);
  taken.take(1, 4, {0, 10});
  taken.take(0, 5, {20, 30});
  taken.take(4, 5, {40, 50});
  const auto ends = [&](int32_t first, int32_t last) {
    ExtentMerge merge;
    taken.find(first, last, merge);
    std::vector<int64_t> out;
    for (Extent next = merge.lowest_after(0); next.end > 0; next = merge.lowest_after(next.end))
      out.push_back(next.end);
    return out;
  };
  EXPECT_EQ(ends(0, 1), (std::vector<int64_t>{30}));
  EXPECT_EQ(ends(0, 2), (std::vector<int64_t>{10, 30}));
  EXPECT_EQ(ends(3, 4), (std::vector<int64_t>{10, 30}));
  EXPECT_EQ(ends(4, 5), (std::vector<int64_t>{30, 50}));
  EXPECT_EQ(ends(3, 5), (std::vector<int64_t>{10, 30, 50}));
}

TEST(GreedyPacker, PacksAlikeWithAndWithoutTheTree) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Boxes boxes = random_boxes(seed);
    for (BoxOrder key : kBoxOrders) {
      const std::vector<int32_t> order = sort_by_keys(order_keys(boxes, key));
      for (GapChoice choice : {GapChoice::kFirst, GapChoice::kBest}) {
        GreedyPacker with_tree(boxes, 0);
        GreedyPacker without(boxes, std::numeric_limits<int>::max());
        with_tree.pack(order, choice);
        without.pack(order, choice);
        EXPECT_EQ(with_tree.offsets(), without.offsets()) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll::plan
