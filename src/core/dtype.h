#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace plimsoll {

/// Element types, named as in papers.
enum class DType : uint8_t { kF32, kBF16, kF16, kF64, kI8, kU8, kU16, kI32, kU32, kI64, kBool };

/// Bytes of one element.
int64_t size_bytes(DType dtype);

/// "f32", "bf16", …
std::string_view to_string(DType dtype);

/// The dtype of that name, or nothing.
std::optional<DType> try_parse_dtype(std::string_view name);

/// True for the types that gradients can flow through.
bool is_floating(DType dtype);

}  // namespace plimsoll
