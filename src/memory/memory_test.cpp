#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "hardware/anonymous_mapping.h"
#include "hardware/process_memory.h"
#include "memory/arena.h"
#include "memory/ledger.h"
#include "memory/poison.h"

namespace plimsoll::memory {
namespace {

TEST(HostArena, IsZeroedAlignedAndOfTheSizeAskedFor) {
  ThreadPool pool(2);
  for (const int64_t size : {int64_t{1}, int64_t{4096}, int64_t{4097}, (int64_t{5} << 20) + 17}) {
    const auto arena = try_make_host_arena({size}, pool);
    ASSERT_TRUE(arena.ok()) << arena.error().message;
    EXPECT_EQ((*arena)->size().value, size);
    EXPECT_EQ((*arena)->space(), Space::kHost);
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*arena)->data()) % 64, 0u);
    EXPECT_FALSE(find_touched((*arena)->bytes(), std::byte{0}).has_value());
    EXPECT_GE((*arena)->populate_seconds(), 0);
    fill((*arena)->bytes(), kPoison);
  }
}

TEST(HostArena, OfNothingHoldsNothing) {
  ThreadPool pool(1);
  const auto arena = try_make_host_arena({0}, pool);
  ASSERT_TRUE(arena.ok());
  EXPECT_TRUE((*arena)->bytes().empty());
}

TEST(HostArena, RefusesWithBothFigures) {
  ThreadPool pool(1);
  const Bytes size{int64_t{1} << 45};
  const auto arena = try_make_host_arena(size, pool);
  ASSERT_FALSE(arena.ok());
  EXPECT_EQ(arena.error().code, ErrorCode::kOutOfMemory);
  EXPECT_NE(arena.error().message.find("needs 32.0 TiB (35184372088832 bytes)"), std::string::npos)
      << arena.error().message;
  EXPECT_NE(arena.error().message.find("are free by"), std::string::npos);
}

TEST(HostArena, NeedsRoomForRoundingAndPageTablesToo) {
  const int64_t page = hardware::page_bytes(), size = 1000 * page + 1;
  const int64_t cost = 1001 * page + hardware::page_table_bytes({size});
  EXPECT_EQ(try_host_arena_cost({size})->value, cost);
  EXPECT_GT(cost, 1001 * page);
  EXPECT_TRUE(check_host_arena({size}, {cost}, "a limit").ok());
  const Status status = check_host_arena({size}, {cost - 1}, "a limit");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kOutOfMemory);
  EXPECT_NE(status.error().message.find("are free by a limit"), std::string::npos) << status.error().message;
  for (const int64_t most : {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max() - 4096})
    EXPECT_FALSE(check_host_arena({most}, {std::numeric_limits<int64_t>::max()}, "a limit").ok());
}

TEST(HostArena, IsResidentFromTheStartAndGoneAfterwards) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers hold memory of their own";
#endif
  ThreadPool pool(2);
  const auto resident = [] { return hardware::try_read_process_memory()->anonymous.value; };
  const int64_t before = resident();
  {
    const auto arena = try_make_host_arena(mebibytes(33), pool);
    ASSERT_TRUE(arena.ok());
    EXPECT_NEAR(static_cast<double>(resident() - before), 33.0 * 1048576, 1e6);
  }
  EXPECT_NEAR(static_cast<double>(resident() - before), 0, 1e6);
}

TEST(Poison, ReadsAsNaN) {
  std::byte bytes[8];
  fill(bytes, kPoison);
  float single = 0;
  double wide = 0;
  std::memcpy(&single, bytes, sizeof single);
  std::memcpy(&wide, bytes, sizeof wide);
  EXPECT_TRUE(std::isnan(single));
  EXPECT_TRUE(std::isnan(wide));
}

TEST(Poison, FindsTheFirstAndLastTouchedByteAnywhere) {
  for (const size_t size : {size_t{1}, size_t{64}, size_t{4096}, size_t{4097}, size_t{12300}}) {
    std::vector<std::byte> bytes(size);
    fill(bytes, kFence);
    EXPECT_FALSE(find_touched(bytes, kFence).has_value());
    EXPECT_EQ(touched_extent(bytes, kFence), 0);
    for (const size_t place : {size_t{0}, size / 2, size - 1}) {
      bytes[place] = std::byte{1};
      EXPECT_EQ(find_touched(bytes, kFence), static_cast<int64_t>(place)) << size;
      EXPECT_EQ(touched_extent(bytes, kFence), static_cast<int64_t>(place) + 1) << size;
      bytes[place] = kFence;
    }
  }
  EXPECT_FALSE(find_touched({}, kFence).has_value());
  EXPECT_EQ(touched_extent({}, kFence), 0);
}

TEST(Ledger, KeepsNowAndPeakBySpaceAndCategory) {
  Ledger ledger;
  ledger.add(Space::kHost, Category::kParameters, {100});
  ledger.add(Space::kHost, Category::kActivations, {50});
  ledger.remove(Space::kHost, Category::kActivations, {50});
  ledger.add(Space::kHost, Category::kWorkspace, {20});
  ledger.add(Space::kDisk, Category::kCache, {7});
  EXPECT_EQ(ledger.now(Space::kHost).value, 120);
  EXPECT_EQ(ledger.peak(Space::kHost).value, 150);
  EXPECT_EQ(ledger.peak(Space::kHost, Category::kActivations).value, 50);
  EXPECT_EQ(ledger.now(Space::kHost, Category::kActivations).value, 0);
  const std::vector<LedgerRow> expected{{Space::kHost, Category::kParameters, {100}, {100}, {100}},
                                        {Space::kHost, Category::kActivations, {0}, {50}, {50}},
                                        {Space::kHost, Category::kWorkspace, {20}, {20}, {0}},
                                        {Space::kDisk, Category::kCache, {7}, {7}, {7}}};
  EXPECT_EQ(ledger.rows(), expected) << to_string(ledger);
}

TEST(Ledger, RowsAtThePeakAddUpToIt) {
  Ledger ledger;
  for (int64_t i = 0; i < 100; ++i) {
    const auto category = static_cast<Category>(i % kCategoryCount);
    ledger.set(Space::kHost, category, {i * 37 % 101});
  }
  int64_t sum = 0;
  for (const LedgerRow& row : ledger.rows()) sum += row.at_space_peak.value;
  EXPECT_EQ(sum, ledger.peak(Space::kHost).value);
}

TEST(Ledger, AddsUpFromManyThreads) {
  Ledger ledger;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        ledger.add(Space::kHost, Category::kInput, {3});
        ledger.remove(Space::kHost, Category::kInput, {2});
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ledger.now(Space::kHost).value, 4000);
}

TEST(Ledger, PrintsATotalForEachSpace) {
  Ledger ledger;
  ledger.add(Space::kHost, Category::kParameters, mebibytes(3));
  const std::string text = to_string(ledger);
  EXPECT_NE(text.find("host    parameters           3.00 MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("host    total                3.00 MiB"), std::string::npos) << text;
}

}  // namespace
}  // namespace plimsoll::memory
