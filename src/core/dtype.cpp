#include "core/dtype.h"

#include <array>

namespace plimsoll {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  int64_t size_bytes;
  bool floating;
};

constexpr std::array<Row, 11> kRows{{
    {DType::kF32, "f32", 4, true},
    {DType::kBF16, "bf16", 2, true},
    {DType::kF16, "f16", 2, true},
    {DType::kF64, "f64", 8, true},
    {DType::kI8, "i8", 1, false},
    {DType::kU8, "u8", 1, false},
    {DType::kU16, "u16", 2, false},
    {DType::kI32, "i32", 4, false},
    {DType::kU32, "u32", 4, false},
    {DType::kI64, "i64", 8, false},
    {DType::kBool, "bool", 1, false},
}};

const Row& row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

int64_t size_bytes(DType dtype) { return row(dtype).size_bytes; }
std::string_view to_string(DType dtype) { return row(dtype).name; }
bool is_floating(DType dtype) { return row(dtype).floating; }

std::optional<DType> try_parse_dtype(std::string_view name) {
  for (const Row& r : kRows)
    if (r.name == name) return r.dtype;
  return std::nullopt;
}

}  // namespace plimsoll
