// Bits of casts that the tolerance of samples does not tell apart.
#include <gtest/gtest.h>

#include <cstring>

#include "backends/cpu/cpu_backend.h"
#include "backends/reference/reference_backend.h"
#include "ops/sample_srcs.h"
#include "sample_run.h"

namespace plimsoll::conformance {
namespace {

/// `numbers`, held as f64, cast to a type of 16 bits.
std::vector<uint16_t> cast_bits(const std::vector<double>& numbers, const std::string& dtype,
                                backends::Backend& backend, const ops::OpTable& table) {
  const SampleRun run(
      table, table.at("cast"),
      {.srcs = {ops::exact_src(DType::kF64, {std::ssize(numbers)}, numbers)}, .attributes = {{"dtype", dtype}}}, false);
  const auto kernel = backend.prepare(run.kernel());
  EXPECT_TRUE(kernel.ok());
  const auto bytes = run.launch(**kernel)[0];
  std::vector<uint16_t> out(numbers.size());
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

void expect_bits(const std::vector<double>& numbers, const std::string& dtype, const std::vector<uint16_t>& bits) {
  const ops::OpTable table = ops::make_op_table();
  ThreadPool pool(1);
  EXPECT_EQ(cast_bits(numbers, dtype, *backends::reference::make_reference_backend(table, pool), table), bits);
  EXPECT_EQ(cast_bits(numbers, dtype, *backends::cpu::make_cpu_backend(pool), table), bits);
}

// Each number lies so close to the middle of two neighbours that as f32 it is the middle itself, and would be rounded
// to the even one.
TEST(Cast, RoundsOnceFromF64ToF16) {
  expect_bits(
      {1 + 0x1p-11 + 0x1p-40, -1 - 0x1p-11 - 0x1p-40, 1 + 3 * 0x1p-11 - 0x1p-40, 65520 - 0x1p-20, 0x1p-25 + 0x1p-60},
      "f16", {0x3c01, 0xbc01, 0x3c01, 0x7bff, 0x0001});
}

TEST(Cast, RoundsOnceFromF64ToBf16) {
  expect_bits({1 + 0x1p-8 + 0x1p-40, -1 - 0x1p-8 - 0x1p-40, 1 + 3 * 0x1p-8 - 0x1p-40, 1e300, -1e-300}, "bf16",
              {0x3f81, 0xbf81, 0x3f81, 0x7f80, 0x8000});
}

TEST(Cast, TiesGoToTheEvenNeighbour) {
  expect_bits({1 + 0x1p-11, 1 + 3 * 0x1p-11, 0x1p-25, 3 * 0x1p-25, 65520}, "f16",
              {0x3c00, 0x3c02, 0x0000, 0x0002, 0x7c00});
  expect_bits({1 + 0x1p-8, 1 + 3 * 0x1p-8, 0x1p-134}, "bf16", {0x3f80, 0x3f82, 0x0000});
}

}  // namespace
}  // namespace plimsoll::conformance
