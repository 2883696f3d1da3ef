#include "hardware/measure.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "hardware/anonymous_mapping.h"
#include "hardware/probe_cores.h"
#include "hardware/process_memory.h"

namespace plimsoll::hardware {
namespace {

const MeasureOptions kBrief{.seconds_per_figure = 0.02};

TEST(MeasureMemory, LatencyGrowsWithTheWorkingSet) {
  ThreadPool pool(2);
  const Cores cores = probe_cores({}, probe_affinity());
  MeasureOptions options = kBrief;
  options.working_set = mebibytes(64);
  const auto memory = try_measure_memory(cores, pool, options);
  ASSERT_TRUE(memory.ok()) << memory.error().message;
  EXPECT_GT(memory->first_touch.small_page_ns, 0);
  EXPECT_GT(memory->first_touch.huge_page_ns, 0);
  ASSERT_EQ(memory->bandwidths.size(), 2u);
  for (const MemoryBandwidth& bandwidth : memory->bandwidths) {
    EXPECT_GT(bandwidth.read.value, 1e8);
    EXPECT_GT(bandwidth.copy.value, 1e8);
  }
  EXPECT_EQ(memory->latencies.back().working_set, mebibytes(64));
  EXPECT_GT(memory->latencies.back().latency_ns, 2 * memory->latencies.front().latency_ns);
}

TEST(MeasureMemory, BandwidthAloneTakesOnlyItsWorkingSet) {
  ThreadPool pool(2);
  const auto bandwidth = try_measure_bandwidth(mebibytes(8), pool, 0.02);
  ASSERT_TRUE(bandwidth.ok()) << bandwidth.error().message;
  EXPECT_EQ(bandwidth->array, mebibytes(4));
  EXPECT_EQ(bandwidth->threads, 2);
  EXPECT_GT(bandwidth->copy.value, 1e8);
}

TEST(MeasureDisk, LeavesNothingBehindAndSaysHowItWent) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "plimsoll-measure-disk-test";
  std::filesystem::create_directories(folder);
  double last = 0;
  MeasureOptions options = kBrief;
  options.progress = [&](std::string_view, double share) { last = share; };
  const auto disk = try_measure_disk(folder.string(), mebibytes(8), options);
  ASSERT_TRUE(disk.ok()) << disk.error().message;
  EXPECT_GT(disk->read.value, 0);
  EXPECT_GT(disk->write.value, 0);
  EXPECT_GT(disk->latency_ns, 0);
  EXPECT_GT(last, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

TEST(MeasureDisk, WorksWhereDirectAccessIsRefusedAndSaysWhy) {
  if (!std::filesystem::exists("/dev/shm")) GTEST_SKIP() << "no /dev/shm";
  const auto disk = try_measure_disk("/dev/shm", mebibytes(4), kBrief);
  ASSERT_TRUE(disk.ok())
      << disk.error().message;  // newer kernels accept O_DIRECT on tmpfs, so the reason may be absent
  EXPECT_GT(disk->read.value, 0);
}

TEST(MeasureDisk, RefusesAFolderWithoutTheSpace) {
  const auto disk = try_measure_disk("/tmp", {int64_t{1} << 60}, kBrief);
  ASSERT_FALSE(disk.ok());
  EXPECT_NE(disk.error().message.find("are free"), std::string::npos) << disk.error().message;
}

TEST(SetMeasured, FillsTheMachine) {
  Machine machine;
  machine.spaces = {{.name = "host", .kind = Space::kHost}, {.name = "disk", .kind = Space::kDisk}};
  machine.links = {{.name = "disk", .from = {0}, .to = {1}}};
  machine.devices = {{.name = "cpu", .kind = DeviceKind::kCpu, .space = {0}}};
  set_measured(MemoryMeasurement{.bandwidths = {{2, {}, {10e9}, {12e9}}}, .latencies = {{{}, 90, "RAM"}}}, machine);
  set_measured(DiskMeasurement{.read = {2e9}, .write = {1e9}, .latency_ns = 80'000}, machine);
  EXPECT_EQ(machine.spaces[0].read_bandwidth.value, 10e9);
  EXPECT_EQ(machine.spaces[0].write_bandwidth.value, 6e9);
  EXPECT_EQ(machine.devices[0].memory_bandwidth.value, 12e9);
  EXPECT_EQ(machine.links[0].forward_bandwidth.value, 1e9);
  EXPECT_EQ(machine.links[0].backward_bandwidth.value, 2e9);
}

TEST(AnonymousMapping, HoldsExactlyItsSizeWhateverThePages) {
  ThreadPool pool(2);
  for (const PageKind kind : {PageKind::kSmall, PageKind::kHuge}) {
    // 9 MiB and 12 KiB: huge pages fit four times, and the rest must not be rounded up to a fifth.
    const Bytes size = mebibytes(9) + kibibytes(12);
    auto mapping = AnonymousMapping::try_make(size, kind).value();
    EXPECT_EQ(mapping.size(), size);
    const int64_t before = try_read_process_memory()->anonymous.value;
    mapping.populate(pool);
    const int64_t grown = try_read_process_memory()->anonymous.value - before;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_NEAR(static_cast<double>(grown), static_cast<double>(size.value), 600e3) << "batched counts lag a little";
#endif
    for (const std::byte byte : mapping.bytes()) ASSERT_EQ(byte, std::byte{0});
  }
}

TEST(AnonymousMapping, RefusesMoreThanTheAddressSpace) {
  const auto mapping = AnonymousMapping::try_make({int64_t{1} << 62}, PageKind::kHuge);
  ASSERT_FALSE(mapping.ok());
  EXPECT_EQ(mapping.error().code, ErrorCode::kOutOfMemory);
}

}  // namespace
}  // namespace plimsoll::hardware
