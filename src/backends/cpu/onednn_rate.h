#pragma once

namespace plimsoll::backends::cpu {

/// The operand types of a product whose rate can be measured although no op of ours takes them yet.
enum class ProductTypes { kBf16, kU8S8 };

/// Operations a second (a multiply and an add are two) of oneDNN's 1024³ product on the calling thread: the best of
/// a third of a second. bf16 gives f32, u8 times s8 gives s32. 0 where the library has no kernel for this processor.
/// Memory: 8 MB and the library's scratch, freed at the end.
double measure_onednn_rate(ProductTypes types);

}  // namespace plimsoll::backends::cpu
