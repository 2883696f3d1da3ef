#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/dtype.h"

namespace plimsoll::formats {

inline constexpr std::array<std::pair<std::string_view, DType>, 11> kSafetensorsDTypes{{
    {"F32", DType::kF32},
    {"BF16", DType::kBF16},
    {"F16", DType::kF16},
    {"F64", DType::kF64},
    {"I8", DType::kI8},
    {"U8", DType::kU8},
    {"U16", DType::kU16},
    {"I32", DType::kI32},
    {"U32", DType::kU32},
    {"I64", DType::kI64},
    {"BOOL", DType::kBool},
}};

/// The format's name of an element type.
constexpr std::string_view to_safetensors_name(DType dtype) {
  return std::ranges::find(kSafetensorsDTypes, dtype, [](const auto& row) { return row.second; })->first;
}

/// The element type of that name in the format, or nothing.
constexpr std::optional<DType> try_parse_safetensors_dtype(std::string_view name) {
  for (const auto& [known, dtype] : kSafetensorsDTypes)
    if (known == name) return dtype;
  return std::nullopt;
}

/// True for the format's element types that Plimsoll does not hold.
constexpr bool is_foreign_safetensors_dtype(std::string_view name) {
  constexpr std::array<std::string_view, 9> kForeign{"I16",     "U64",     "C64",     "F8_E4M3", "F8_E5M2",
                                                     "F8_E8M0", "F6_E2M3", "F6_E3M2", "F4"};
  return std::ranges::find(kForeign, name) != kForeign.end();
}

}  // namespace plimsoll::formats
