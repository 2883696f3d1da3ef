#include "hardware/machine.h"

#include <gtest/gtest.h>

namespace plimsoll::hardware {
namespace {

Machine make_two_tiers() {
  Machine machine;
  machine.spaces = {{.name = "vram", .kind = Space::kDevice}, {.name = "host", .kind = Space::kHost}};
  machine.links = {{.name = "pcie", .from = {1}, .to = {0}}};
  machine.devices = {{.name = "gpu", .kind = DeviceKind::kCuda, .space = {0}}};
  return machine;
}

TEST(CheckMachine, AcceptsWhatHoldsTogether) { EXPECT_TRUE(check_machine(make_two_tiers()).ok()); }

TEST(CheckMachine, NamesWhatIsWrong) {
  const auto message = [](auto damage) {
    Machine machine = make_two_tiers();
    damage(machine);
    const Status status = check_machine(machine);
    return status.ok() ? std::string() : status.error().message;
  };
  EXPECT_NE(message([](Machine& m) { m.links[0].to = {2}; }).find("link 'pcie': to is space 2 of 2"),
            std::string::npos);
  EXPECT_NE(message([](Machine& m) { m.devices[0].space = {}; }).find("device 'gpu'"), std::string::npos);
  EXPECT_NE(message([](Machine& m) { m.spaces[1].name = "vram"; }).find("'vram'"), std::string::npos);
  EXPECT_NE(message([](Machine& m) { m.spaces[0].capacity = {-1}; }).find("capacity"), std::string::npos);
  EXPECT_NE(message([](Machine& m) { m.spaces[0].latency_ns = 0.0 / 0.0; }).find("latency"), std::string::npos);
  EXPECT_NE(message([](Machine& m) { m.nodes = 0; }).find("nodes is 0"), std::string::npos);
}

TEST(Machine, FindsTheFirstSpaceOfAKind) {
  const Machine machine = make_two_tiers();
  EXPECT_EQ(machine.find_space(Space::kHost), SpaceId{1});
  EXPECT_FALSE(machine.find_space(Space::kPmem).is_valid());
}

TEST(InstructionSets, NamesGoBothWays) {
  for (int i = 0; i < kInstructionSets; ++i) {
    const auto set = static_cast<InstructionSet>(i);
    EXPECT_EQ(try_parse_instruction_set(to_string(set)), set);
  }
  EXPECT_EQ(to_string(InstructionSets{InstructionSet::kFma, InstructionSet::kAvx2}), "avx2 fma");
  EXPECT_EQ(to_string(InstructionSets{}), "");
}

}  // namespace
}  // namespace plimsoll::hardware
