#include "backends/cpu/product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "backends/cpu/blocked_product.h"

namespace plimsoll::backends::cpu {
namespace {

constexpr float kUntouched = 12345.0f;

/// Small whole numbers, so that sums are exact in f32 whatever their order.
std::vector<float> whole_numbers(int64_t numel, int seed) {
  std::vector<float> out(static_cast<size_t>(numel));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>((i * 7 + static_cast<size_t>(seed)) % 11) - 5;
  return out;
}

/// Fractions whose sums depend on their order.
std::vector<float> fractions(int64_t numel, int seed) {
  std::vector<float> out(static_cast<size_t>(numel));
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::sin(static_cast<float>(i) + static_cast<float>(seed));
  return out;
}

float* aligned(std::vector<float>& room) {
  const auto at = reinterpret_cast<uintptr_t>(room.data());
  return room.data() + (64 - at % 64) % 64 / sizeof(float);
}

struct Case {
  int64_t m, n, k;
  bool transpose_a, transpose_b, has_bias, accumulate;
};

Matrix matrix(const std::vector<float>& data, int64_t rows, int64_t columns, bool is_transposed) {
  return {data.data(), is_transposed ? rows : columns, is_transposed};
}

float at(const Matrix& m, int64_t i, int64_t j) {
  return m.data[m.is_transposed ? j * m.stride + i : i * m.stride + j];
}

void expect_right(const Case& c) {
  SCOPED_TRACE(testing::Message() << c.m << " " << c.n << " " << c.k << " " << c.transpose_a << c.transpose_b
                                  << c.has_bias << c.accumulate);
  const auto a = whole_numbers(c.m * c.k, 1), b = whole_numbers(c.k * c.n, 2), bias = whole_numbers(c.n, 3);
  const Matrix left = matrix(a, c.m, c.k, c.transpose_a), right = matrix(b, c.k, c.n, c.transpose_b);
  const int64_t stride = c.n + 3;
  std::vector<float> dst(static_cast<size_t>(c.m * stride), kUntouched);
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < c.n; ++j) dst[static_cast<size_t>(i * stride + j)] = static_cast<float>(i + j);
  std::vector<float> room(static_cast<size_t>(product_room_numel(c.m, c.k)) + 32, kUntouched);
  float* first = aligned(room);
  multiply({.m = c.m,
            .n = c.n,
            .k = c.k,
            .a = left,
            .b = right,
            .bias = c.has_bias ? bias.data() : nullptr,
            .dst = dst.data(),
            .stride = stride,
            .accumulate = c.accumulate,
            .room = first});
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < stride; ++j) {
      float want = j < c.n ? 0 : kUntouched;
      for (int64_t l = 0; j < c.n && l < c.k; ++l) want += at(left, i, l) * at(right, l, j);
      if (j < c.n && c.has_bias) want += bias[static_cast<size_t>(j)];
      if (j < c.n && c.accumulate) want += static_cast<float>(i + j);
      ASSERT_EQ(dst[static_cast<size_t>(i * stride + j)], want) << i << ", " << j;
    }
  ASSERT_EQ(first[product_room_numel(c.m, c.k)], kUntouched) << "wrote behind its room";
}

TEST(Product, IsExactForEverySizeAroundATile) {
  for (const int64_t m : {1, 2, 4, 5, 6, 7, 11, 12, 13, 17, 25})
    for (const int64_t n : {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65})
      for (const int64_t k : {0, 1, 3, 4, 5, 8, 9, 17})
        for (int flags = 0; flags < 16; ++flags)
          expect_right({m, n, k, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 8) != 0});
}

TEST(Product, IsExactAcrossBlocksOfRowsAndDepth) {
  for (int flags = 0; flags < 16; ++flags)
    expect_right({kProductRows + 5, 37, 2 * kProductDepth + 3, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0,
                  (flags & 8) != 0});
}

TEST(Product, EmptyProductsLeaveDstAlone) {
  float dst = kUntouched;
  multiply({.m = 0, .n = 5, .k = 3, .dst = &dst, .stride = 5});
  multiply({.m = 5, .n = 0, .k = 3, .dst = &dst, .stride = 0});
  EXPECT_EQ(dst, kUntouched);
}

TEST(Product, ReportsEveryElementOnceWhenItIsFinished) {
  for (const auto& [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{300, 300, 800}, {3, 40, 9}, {7, 16, 0}}) {
    const auto a = whole_numbers(m * k, 1), b = whole_numbers(k * n, 2);
    std::vector<float> dst(static_cast<size_t>(m * n), kUntouched), at_report(dst.size(), kUntouched);
    std::vector<float> room(static_cast<size_t>(product_room_numel(m, k)) + 16);
    const auto note = [&, n = n](Range rows, Range columns) {
      for (int64_t i = rows.begin; i < rows.end; ++i)
        for (int64_t j = columns.begin; j < columns.end; ++j) {
          const auto index = static_cast<size_t>(i * n + j);
          ASSERT_EQ(at_report[index], kUntouched) << i << ", " << j;
          at_report[index] = dst[index];
        }
    };
    const FinishedBlock finished(note);
    multiply({.m = m,
              .n = n,
              .k = k,
              .a = {a.data(), k},
              .b = {b.data(), n},
              .dst = dst.data(),
              .stride = n,
              .room = aligned(room),
              .finished = &finished});
    EXPECT_EQ(at_report, dst);
  }
}

/// Rows are shared out to 1 to 7 threads' units in different ways.
TEST(BlockedProduct, HasTheSameBitsForAnyNumberOfThreads) {
  constexpr int64_t kM = 45, kN = 1000, kK = 500;
  const auto a = fractions(kM * kK, 1), b = fractions(kN * kK, 2), bias = fractions(kN, 3);
  std::vector<float> one;
  for (const int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    const BlockedProduct product({.m = kM, .n = kN, .k = kK, .transpose_b = true}, {0}, {0}, threads);
    std::vector<float> dst(static_cast<size_t>(kM * kN));
    std::vector<float> room(static_cast<size_t>(product.workspace_bytes()) / sizeof(float) + 16);
    product.run(pool,
                {.a = a.data(), .b = b.data(), .bias = bias.data(), .dst = dst.data(), .workspace = aligned(room)});
    if (one.empty()) one = dst;
    EXPECT_EQ(dst, one) << threads << " threads";
  }
}

}  // namespace
}  // namespace plimsoll::backends::cpu
