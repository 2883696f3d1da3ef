#include "ops/elementwise/dropout_mask.h"
#include "ops/op_testing.h"

namespace plimsoll::ops {
namespace {

std::vector<Array> dropout_srcs(const Array& x, double step, double microbatch) {
  return {x, i64_number(42), i64_number(step), i64_number(microbatch)};
}

Array ones(int64_t n) { return f32_array({n}, std::vector<double>(static_cast<size_t>(n), 1)); }

// Bits from a second implementation of Philox and FNV-1a.
const std::vector<double> kFirst16{2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 2, 0, 0, 2, 0};
const std::vector<double> kNext16{2, 2, 0, 0, 0, 2, 0, 0, 0, 0, 2, 2, 0, 2, 2, 2};

TEST(Dropout, HasTheKnownMaskOfASeed) {
  expect_near(run_op("dropout", dropout_srcs(ones(16), 7, 0), {{"p", 0.5}, {"path", "block.0"}})[0], kFirst16);
  expect_near(run_op("dropout", dropout_srcs(ones(16), 7, 1), {{"p", 0.5}, {"path", "block.0"}})[0], kNext16);
}

TEST(Dropout, MaskDoesNotDependOnMicrobatches) {
  std::vector<double> both = kFirst16;
  both.insert(both.end(), kNext16.begin(), kNext16.end());
  expect_near(run_op("dropout", dropout_srcs(ones(32), 7, 0), {{"p", 0.5}, {"path", "block.0"}})[0], both);
}

TEST(Dropout, MaskDependsOnPathAndStep) {
  const Attributes other{{"p", 0.5}, {"path", "block.1"}};
  EXPECT_NE(run_op("dropout", dropout_srcs(ones(16), 7, 0), other)[0].data, kFirst16);
  EXPECT_NE(run_op("dropout", dropout_srcs(ones(16), 8, 0), {{"p", 0.5}, {"path", "block.0"}})[0].data, kFirst16);
}

TEST(Dropout, ComparesWordsInF32) {
  const DropoutMask mask(0, "", 0, 0.9);  // 0.9 as f32 is 15099494 · 2^-24, as f64 it is above that
  EXPECT_TRUE(mask.keeps_word(15099494u << 8));
  EXPECT_FALSE(mask.keeps_word(15099493u << 8 | 255));
}

TEST(Dropout, OfZeroIsTheIdentity) {
  const Array x = random_array({17}, 1);
  EXPECT_EQ(run_op("dropout", dropout_srcs(x, 1, 0), {{"p", 0.0}, {"path", "a"}})[0].data, x.data);
}

TEST(Dropout, KeepsTheExpectedShare) {
  const Array y = run_op("dropout", dropout_srcs(ones(10000), 1, 0), {{"p", 0.25}, {"path", "a"}})[0];
  double kept = 0;
  for (const double one : y.data) kept += one != 0;
  EXPECT_NEAR(kept / 10000, 0.75, 0.015);  // three standard deviations
}

TEST(Dropout, GradientPassesWhereElementsWereKept) {
  const Array d_y = ones(16);
  const auto rule =
      run_gradient("dropout", dropout_srcs(random_array({16}, 1), 7, 0), {{"p", 0.5}, {"path", "block.0"}}, d_y);
  expect_near(rule.d_srcs[0], kFirst16);
}

TEST(Dropout, RefusesAProbabilityOfOne) {
  const TensorDesc x{DType::kF32, {3}, {}}, i{DType::kI64, {}, {}};
  EXPECT_EQ(refusal_of("dropout", {x, i, i, i}, {{"p", 1.0}, {"path", "a"}}),
            "[dropout] p is 1.0; expected 0 <= p < 1");
}

}  // namespace
}  // namespace plimsoll::ops
