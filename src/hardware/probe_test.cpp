#include "hardware/probe.h"

#include <gtest/gtest.h>

#include "hardware/fixture_tree.h"
#include "hardware/probe_cores.h"
#include "hardware/probe_memory.h"
#include "hardware/process_memory.h"

namespace plimsoll::hardware {
namespace {

TEST(ProbeCores, CountsCoresOnceThoughTheyHaveTwoThreads) {
  FixtureTree tree;
  tree.write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Example 9000 \nmodel\t: 3\n");
  for (int cpu = 0; cpu < 4; ++cpu)
    tree.write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
               cpu % 2 == 0 ? "0,2\n" : "1,3\n");
  const std::string index = "/sys/devices/system/cpu/cpu0/cache/index";
  tree.write(index + "0/type", "Data\n");
  tree.write(index + "0/level", "1\n");
  tree.write(index + "0/size", "32K\n");
  tree.write(index + "0/shared_cpu_list", "0,2\n");
  tree.write(index + "1/type", "Instruction\n");
  tree.write(index + "3/type", "Unified\n");
  tree.write(index + "3/level", "3\n");
  tree.write(index + "3/size", "32768K\n");
  tree.write(index + "3/shared_cpu_list", "0-3\n");
  const Cores cores = probe_cores(tree.root(), std::vector<int>{0, 1, 2, 3});
  EXPECT_EQ(cores.model, "Example 9000");
  EXPECT_EQ(cores.logical, 4);
  EXPECT_EQ(cores.physical, 2);
  EXPECT_EQ(cores.usable, 4);
  EXPECT_EQ(cores.caches, (std::vector<Cache>{{1, kibibytes(32), 2}, {3, mebibytes(32), 4}}));
}

TEST(ProbeCores, QuotaBoundsTheThreadsWorthStarting) {
  FixtureTree tree;
  tree.write("/proc/self/cgroup", "0::/\n");
  tree.write("/proc/self/mountinfo", "22 1 0:3 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  const Cores cores = probe_cores(tree.root(), std::vector<int>{0, 1, 2, 3});
  EXPECT_EQ(cores.usable, 2);
  EXPECT_EQ(cores.logical, 4);
}

TEST(ParseCpuList, ReadsRangesAndSkipsWhatIsNone) {
  EXPECT_EQ(parse_cpu_list("0-2,8\n"), (std::vector<int>{0, 1, 2, 8}));
  EXPECT_TRUE(parse_cpu_list("\n").empty());
  EXPECT_TRUE(parse_cpu_list("x-3,9999999999999-99999999999999").empty());
}

TEST(ProbeMachine, DescribesTheMachineAtHand) {
  const auto machine = try_probe_machine("/tmp");
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_TRUE(check_machine(*machine).ok());
  EXPECT_GT(machine->space(machine->find_space(Space::kHost)).capacity, mebibytes(64));
  EXPECT_GE(machine->cores.usable, 1);
  EXPECT_LE(machine->cores.usable, machine->cores.logical);
  EXPECT_GE(machine->cores.physical, 1);
}

TEST(ProbeMachine, RefusesAFolderThatDoesNotExist) {
  const auto machine = try_probe_machine("/nowhere/at/all");
  ASSERT_FALSE(machine.ok());
  EXPECT_NE(machine.error().message.find("/nowhere/at/all"), std::string::npos);
}

TEST(AvailableRam, LiesBetweenNothingAndTheCapacity) {
  const Bytes available = available_ram().value();
  EXPECT_GT(available.value, 0);
  EXPECT_LE(available, try_read_ram()->capacity);
}

TEST(ProcessMemory, OfThisProcessAddsUp) {
  const ProcessMemory memory = try_read_process_memory().value();
  EXPECT_GT(memory.anonymous.value, 0);
  EXPECT_GE(memory.peak_resident + mebibytes(1), memory.resident);
}

}  // namespace
}  // namespace plimsoll::hardware
