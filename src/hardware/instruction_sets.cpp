#include "hardware/instruction_sets.h"

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace plimsoll::hardware {
namespace {

constexpr std::array<std::string_view, kInstructionSets> kNames{
    "avx2",     "fma",         "f16c",        "avx_vnni",    "avx512f",  "avx512bw", "avx512vl",
    "avx512dq", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_int8"};

#if defined(__x86_64__)

struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Leaf read_leaf(unsigned leaf, unsigned subleaf) {
  Leaf out;
  if (__get_cpuid_count(leaf, subleaf, &out.a, &out.b, &out.c, &out.d) == 0) return {};
  return out;
}

/// Register sets that the operating system saves: without that, instructions trap although cpuid reports them.
uint64_t read_saved_registers() {
  constexpr unsigned kOsXsave = 1u << 27;
  if ((read_leaf(1, 0).c & kOsXsave) == 0) return 0;
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

constexpr uint64_t kYmmState = 0x6;       // XMM, YMM
constexpr uint64_t kZmmState = 0xe6;      // and opmask, upper ZMM, ZMM16-31
constexpr uint64_t kTileState = 0x60000;  // tile configuration and data

#endif

}  // namespace

std::string_view to_string(InstructionSet set) { return kNames[static_cast<size_t>(set)]; }

std::optional<InstructionSet> try_parse_instruction_set(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<InstructionSet>(found - kNames.begin());
}

std::string to_string(InstructionSets sets) {
  std::string out;
  for (int i = 0; i < kInstructionSets; ++i) {
    const auto set = static_cast<InstructionSet>(i);
    if (!sets.has(set)) continue;
    if (!out.empty()) out += ' ';
    out += to_string(set);
  }
  return out;
}

InstructionSets probe_instruction_sets() {
  InstructionSets sets;
#if defined(__x86_64__)
  const Leaf base = read_leaf(1, 0);
  const Leaf extended = read_leaf(7, 0);
  const Leaf more = read_leaf(7, 1);
  const uint64_t saved = read_saved_registers();
  struct Row {
    InstructionSet set;
    unsigned word;
    int bit;
    uint64_t state;
  };
  // Bit positions: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID.
  const Row rows[] = {
      {InstructionSet::kAvx2, extended.b, 5, kYmmState},        {InstructionSet::kFma, base.c, 12, kYmmState},
      {InstructionSet::kF16c, base.c, 29, kYmmState},           {InstructionSet::kAvxVnni, more.a, 4, kYmmState},
      {InstructionSet::kAvx512F, extended.b, 16, kZmmState},    {InstructionSet::kAvx512Bw, extended.b, 30, kZmmState},
      {InstructionSet::kAvx512Vl, extended.b, 31, kZmmState},   {InstructionSet::kAvx512Dq, extended.b, 17, kZmmState},
      {InstructionSet::kAvx512Vnni, extended.c, 11, kZmmState}, {InstructionSet::kAvx512Bf16, more.a, 5, kZmmState},
      {InstructionSet::kAvx512Fp16, extended.d, 23, kZmmState}, {InstructionSet::kAmxBf16, extended.d, 22, kTileState},
      {InstructionSet::kAmxInt8, extended.d, 25, kTileState},
  };
  for (const Row& row : rows)
    if ((row.word >> row.bit & 1u) != 0 && (saved & row.state) == row.state) sets.insert(row.set);
#endif
  return sets;
}

}  // namespace plimsoll::hardware
