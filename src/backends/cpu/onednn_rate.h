#pragma once

namespace plimsoll::backends::cpu {

/// The operand types of a product: f32, to compare our own with, and those that no op of ours takes yet.
enum class ProductTypes { kF32, kBf16, kU8S8 };

/// Operations a second (a multiply and an add are two) of oneDNN's 1024³ product on the calling thread: the best of
/// a third of a second. bf16 gives f32 too, u8 times s8 gives s32. 0 where the library has no kernel for this
/// processor. Memory: up to 12 MB and the library's scratch, freed at the end.
double measure_onednn_rate(ProductTypes types);

}  // namespace plimsoll::backends::cpu
