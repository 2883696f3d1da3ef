#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::hardware {

/// The extensions that our kernels and oneDNN choose by.
enum class InstructionSet : uint8_t {
  kAvx2,
  kFma,
  kF16c,
  kAvxVnni,
  kAvx512F,
  kAvx512Bw,
  kAvx512Vl,
  kAvx512Dq,
  kAvx512Vnni,
  kAvx512Bf16,
  kAvx512Fp16,
  kAmxBf16,
  kAmxInt8,
};
inline constexpr int kInstructionSets = 13;

/// "avx2", "avx512_bf16", … as /proc/cpuinfo spells them.
std::string_view to_string(InstructionSet set);
std::optional<InstructionSet> try_parse_instruction_set(std::string_view name);

/// A set of instruction sets; a plain value.
class InstructionSets {
 public:
  constexpr InstructionSets() = default;
  constexpr InstructionSets(std::initializer_list<InstructionSet> sets) {
    for (InstructionSet set : sets) insert(set);
  }
  constexpr void insert(InstructionSet set) { bits_ |= 1u << static_cast<unsigned>(set); }
  constexpr bool has(InstructionSet set) const { return (bits_ >> static_cast<unsigned>(set) & 1u) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr bool operator==(InstructionSets, InstructionSets) = default;

 private:
  uint32_t bits_ = 0;
};

/// "avx2 fma f16c", in the order of the enumeration; "" where there is none.
std::string to_string(InstructionSets sets);

/// What the processor can do and the operating system lets programs use (it must save the registers). Empty on other
/// architectures than x86-64.
InstructionSets probe_instruction_sets();

}  // namespace plimsoll::hardware
