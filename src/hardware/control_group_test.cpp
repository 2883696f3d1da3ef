#include "hardware/control_group.h"

#include <gtest/gtest.h>

#include "hardware/fixture_tree.h"
#include "hardware/probe_memory.h"
#include "hardware/process_memory.h"

namespace plimsoll::hardware {
namespace {

constexpr const char* kMeminfo = "MemTotal:       16000 kB\nMemFree:         4000 kB\nMemAvailable:   12000 kB\n";
constexpr const char* kStatus =
    "Name:\tx\nVmHWM:\t    3000 kB\nVmRSS:\t    2000 kB\nRssAnon:\t     1000 kB\nRssFile:\t     900 kB\nRssShmem:\t    "
    " "
    "100 kB\n";
constexpr int64_t kKiB = 1024;

void write_proc(FixtureTree& tree, const std::string& groups, const std::string& mounts) {
  tree.write("/proc/meminfo", kMeminfo);
  tree.write("/proc/self/status", kStatus);
  tree.write("/proc/self/cgroup", groups);
  tree.write("/proc/self/mountinfo", mounts);
}

const std::string kV1Mounts =
    "20 1 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
    "21 1 0:2 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n";
const std::string kV2Mount = "22 1 0:3 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string kUnlimitedV1 = "9223372036854771712\n";

TEST(MemoryLimits, TakesEveryV1LimitOnTheWayUp) {
  FixtureTree tree;
  write_proc(tree, "5:cpuset:/\n4:memory:/outer/inner\n", kV1Mounts);
  tree.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", kUnlimitedV1);
  tree.write("/sys/fs/cgroup/memory/outer/memory.limit_in_bytes", "6291456\n");
  tree.write("/sys/fs/cgroup/memory/outer/memory.usage_in_bytes", "1048576\n");
  tree.write("/sys/fs/cgroup/memory/outer/memory.stat",
             "inactive_file 7\ntotal_inactive_file 4096\ntotal_active_file 8192\n");
  tree.write("/sys/fs/cgroup/memory/outer/inner/memory.limit_in_bytes", "8388608\n");
  tree.write("/sys/fs/cgroup/memory/outer/inner/memory.usage_in_bytes", "8000000\n");
  const auto limits = read_memory_limits(tree.root());
  ASSERT_EQ(limits.size(), 2u);
  EXPECT_EQ(limits[0].limit.value, 8388608);
  EXPECT_EQ(limits[1].limit.value, 6291456);
  EXPECT_EQ(limits[1].reclaimable.value, 4096 + 8192);

  const RamReading ram = try_read_ram(tree.root()).value();
  EXPECT_EQ(ram.installed.value, 16000 * kKiB);
  EXPECT_EQ(ram.capacity.value, 6291456) << "the parent's limit is the smaller one";
  EXPECT_NE(ram.capacity_bound_by.find("outer/memory.limit_in_bytes"), std::string::npos);
  EXPECT_EQ(ram.free.value, 8388608 - 8000000) << "the inner group is nearly full";
  EXPECT_NE(ram.free_bound_by.find("inner"), std::string::npos);
}

TEST(MemoryLimits, UnlimitedGroupsLeaveWhatTheSystemHas) {
  FixtureTree tree;
  write_proc(tree, "4:memory:/\n", kV1Mounts);
  tree.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", kUnlimitedV1);
  EXPECT_TRUE(read_memory_limits(tree.root()).empty());
  const RamReading ram = try_read_ram(tree.root()).value();
  EXPECT_EQ(ram.capacity.value, 16000 * kKiB);
  EXPECT_EQ(ram.free.value, 12000 * kKiB);
  EXPECT_EQ(available_ram(tree.root()).value().value, (12000 + 1000 + 100) * kKiB) << "what it holds already counts";
}

TEST(MemoryLimits, ReadsV2MaxAndHigh) {
  FixtureTree tree;
  write_proc(tree, "0::/user/job\n", kV2Mount);
  tree.write("/sys/fs/cgroup/user/job/memory.max", "max\n");
  tree.write("/sys/fs/cgroup/user/job/memory.high", "max\n");
  tree.write("/sys/fs/cgroup/user/memory.max", "10485760\n");
  tree.write("/sys/fs/cgroup/user/memory.high", "9437184\n");
  tree.write("/sys/fs/cgroup/user/memory.current", "2097152\n");
  tree.write("/sys/fs/cgroup/user/memory.stat", "anon 1\ninactive_file 1048576\n");
  const RamReading ram = try_read_ram(tree.root()).value();
  EXPECT_EQ(ram.capacity.value, 9437184);
  EXPECT_EQ(ram.free.value, 9437184 - 2097152 + 1048576);
}

TEST(MemoryLimits, HybridTakesTheHierarchyThatHoldsTheController) {
  FixtureTree tree;
  write_proc(tree, "4:memory:/a\n0::/b\n", kV1Mounts + "23 1 0:4 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  tree.write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4194304\n");
  tree.write("/sys/fs/cgroup/unified/b/memory.max", "1\n");
  const auto group = try_find_control_group(tree.root(), "memory");
  ASSERT_TRUE(group.has_value());
  EXPECT_FALSE(group->is_v2);
  EXPECT_EQ(try_read_ram(tree.root()).value().capacity.value, 4194304);
  EXPECT_TRUE(try_find_control_group(tree.root(), "pids")->is_v2);
}

TEST(MemoryLimits, ContainersSeeTheirGroupAsTheMount) {
  FixtureTree tree;
  const std::string mount = "21 1 0:2 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
  tree.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4194304\n");
  for (const char* group : {"/docker/ab", "/docker/abc", "/../elsewhere", "/"}) {
    write_proc(tree, std::string("4:memory:") + group + "\n", mount);
    EXPECT_EQ(try_read_ram(tree.root()).value().capacity.value, 4194304) << group;
    EXPECT_EQ(try_find_control_group(tree.root(), "memory")->folders.size(), 1u) << group;
  }
  write_proc(tree, "4:memory:/docker/ab/job\n", mount);
  EXPECT_EQ(try_find_control_group(tree.root(), "memory")->folders.size(), 2u);
}

TEST(MemoryLimits, MountPointsMayHoldBlanks) {
  FixtureTree tree;
  write_proc(tree, "0::/\n", "22 1 0:3 / /sys/my\\040groups rw - cgroup2 none rw\n");
  tree.write("/sys/my groups/memory.max", "4096\n");
  EXPECT_EQ(try_read_ram(tree.root()).value().capacity.value, 4096);
}

TEST(MemoryLimits, OverfullGroupHasNothingFree) {
  FixtureTree tree;
  write_proc(tree, "0::/\n", kV2Mount);
  tree.write("/sys/fs/cgroup/memory.max", "4096\n");
  tree.write("/sys/fs/cgroup/memory.current", "8192\n");
  EXPECT_EQ(try_read_ram(tree.root()).value().free.value, 0);
}

TEST(ReadRam, SaysWhichFileIsMissing) {
  FixtureTree tree;
  const auto ram = try_read_ram(tree.root());
  ASSERT_FALSE(ram.ok());
  EXPECT_EQ(ram.error().code, ErrorCode::kIo);
  EXPECT_NE(ram.error().message.find("/proc/meminfo"), std::string::npos);
}

TEST(CpuQuota, TakesTheTightestGroup) {
  FixtureTree v1;
  write_proc(v1, "1:cpu,cpuacct:/a/b\n", kV1Mounts);
  v1.write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "150000\n");
  v1.write("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  v1.write("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
  v1.write("/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(try_read_cpu_quota(v1.root()).value(), 1.5);

  FixtureTree v2;
  write_proc(v2, "0::/a/b\n", kV2Mount);
  v2.write("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
  EXPECT_FALSE(try_read_cpu_quota(v2.root()).has_value());
  v2.write("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(try_read_cpu_quota(v2.root()).value(), 0.5);
}

TEST(ProcessMemory, ReadsTheKernelsCounts) {
  FixtureTree tree;
  write_proc(tree, "4:memory:/a\n", kV1Mounts);
  tree.write("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "12345\n");
  tree.write("/sys/fs/cgroup/memory/a/memory.max_usage_in_bytes", "23456\n");
  const ProcessMemory memory = try_read_process_memory(tree.root()).value();
  EXPECT_EQ(memory.resident.value, 2000 * kKiB);
  EXPECT_EQ(memory.peak_resident.value, 3000 * kKiB);
  EXPECT_EQ(memory.anonymous.value, 1000 * kKiB);
  EXPECT_EQ(memory.file.value, 900 * kKiB);
  EXPECT_EQ(memory.shared_memory.value, 100 * kKiB);
  EXPECT_EQ(memory.group_charge->value, 12345);
  EXPECT_EQ(memory.group_peak->value, 23456);
}

TEST(ProcessMemory, V2PeakMayBeMissing) {
  FixtureTree tree;
  write_proc(tree, "0::/\n", kV2Mount);
  tree.write("/sys/fs/cgroup/memory.current", "12345\n");
  const ProcessMemory memory = try_read_process_memory(tree.root()).value();
  EXPECT_EQ(memory.group_charge->value, 12345);
  EXPECT_FALSE(memory.group_peak.has_value());
}

}  // namespace
}  // namespace plimsoll::hardware
