#include "allocation_probe/allocation_probe.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>

extern "C" void* allocate_in_library(size_t size);
extern "C" void call_back_from_library(void (*function)());

namespace plimsoll::allocation_probe {
namespace {

/// Keeps the compiler from dropping an allocation that nobody looks at.
template <class T>
T* keep(T* pointer) {
  asm volatile("" : : "r"(pointer) : "memory");
  return pointer;
}

TEST(AllocationProbe, CountsNothingWhereNothingIsAllocated) {
  std::vector<int> numbers(1000);
  start();
  std::iota(numbers.begin(), numbers.end(), 0);
  const Report report = stop();
  EXPECT_EQ(report.ours.calls, 0);
  EXPECT_EQ(report.libraries.calls, 0);
}

TEST(AllocationProbe, CountsEveryWayToAllocate) {
  void* block = nullptr;
  start();
  std::free(keep(std::malloc(10)));
  std::free(keep(std::calloc(4, 5)));
  std::free(keep(std::realloc(keep(std::malloc(1)), 30)));
  std::free(keep(std::aligned_alloc(64, 64)));
  ASSERT_EQ(posix_memalign(&block, 64, 100), 0);
  std::free(keep(block));
  delete keep(new int);
  delete[] keep(new char[7]);
  struct alignas(128) Wide {
    char bytes[128];
  };
  delete keep(new Wide);
  void* mapped = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const Report report = stop();
  ASSERT_NE(mapped, MAP_FAILED);
  munmap(mapped, 8192);
  EXPECT_EQ(report.ours.calls, 10);
  EXPECT_EQ(report.ours.bytes, 10 + 20 + 1 + 30 + 64 + 100 + 4 + 7 + 128 + 8192);
  EXPECT_EQ(report.ours.largest_bytes, 8192);
  EXPECT_EQ(report.libraries.calls, 0);
  ASSERT_EQ(report.our_first_calls.size(), 10u);
  EXPECT_EQ(report.our_first_calls[0].find("malloc of 10 bytes\n"), 0u) << report.our_first_calls[0];
  EXPECT_NE(report.our_first_calls[0].find("executable+0x"), std::string::npos);
}

TEST(AllocationProbe, WhatTheStandardLibraryAllocatesForUsIsOurs) {
  std::string text = "short";
  start();
  text.append(1000, 'x');
  keep(&text);
  const Report report = stop();
  EXPECT_EQ(report.ours.calls, 1);
  EXPECT_EQ(report.libraries.calls, 0);
}

TEST(AllocationProbe, NamesTheLibraryThatAllocates) {
  start();
  void* block = allocate_in_library(5000);
  const Report report = stop();
  std::free(block);
  EXPECT_EQ(report.ours.calls, 0);
  EXPECT_EQ(report.libraries.calls, 1);
  ASSERT_EQ(report.by_library.size(), 1u);
  EXPECT_EQ(report.by_library[0].name, "liballocating_library.so");
  EXPECT_EQ(report.by_library[0].counts.largest_bytes, 5000);
}

TEST(AllocationProbe, WhatWeAllocateWhenALibraryCallsUsIsOurs) {
  start();
  call_back_from_library([] { std::free(keep(std::malloc(9))); });
  const Report report = stop();
  EXPECT_EQ(report.ours.calls, 1);
  EXPECT_EQ(report.libraries.calls, 0);
}

TEST(AllocationProbe, CountsOtherThreadsToo) {
  std::atomic<int> turn{0};
  std::thread other([&] {
    while (turn != 1) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) std::free(keep(std::malloc(16)));
    turn = 2;
  });
  start();
  turn = 1;
  while (turn != 2) std::this_thread::yield();
  const Report report = stop();
  other.join();
  EXPECT_EQ(report.ours.calls, 100);
  EXPECT_EQ(report.ours.largest_bytes, 16);
  EXPECT_EQ(report.our_first_calls.size(), 16u);
}

}  // namespace
}  // namespace plimsoll::allocation_probe
