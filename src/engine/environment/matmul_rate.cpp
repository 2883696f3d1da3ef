#include "engine/environment/matmul_rate.h"

#include <algorithm>

#include "core/bytes.h"
#include "core/philox.h"
#include "core/stopwatch.h"
#include "hardware/anonymous_mapping.h"

namespace plimsoll::engine {
namespace {

constexpr int64_t kSide = 1024;
constexpr double kSeconds = 0.3;
constexpr int64_t kAlignment = 64;

/// A product of two squares; null where the backend has none.
std::unique_ptr<backends::Kernel> prepare_square(Environment& environment) {
  const TensorDesc desc{DType::kF32, {kSide, kSide}, {}};
  auto kernel = environment.backend().prepare({.op = "matmul",
                                               .attributes = {{"transpose_a", false}, {"transpose_b", false}},
                                               .srcs = {desc, desc},
                                               .dsts = {desc}});
  return kernel.ok() ? std::move(kernel).value() : nullptr;
}

int64_t needed_bytes(const backends::Kernel& kernel) {
  return 3 * kSide * kSide * static_cast<int64_t>(sizeof(float)) + kernel.workspace_bytes() + kAlignment;
}

double measure(const backends::Kernel& kernel, std::byte* memory) {
  auto* a =
      reinterpret_cast<float*>(memory + (kAlignment - reinterpret_cast<uintptr_t>(memory) % kAlignment) % kAlignment);
  float* b = a + kSide * kSide;
  float* dst = b + kSide * kSide;
  for (int64_t i = 0; i < kSide * kSide; ++i) a[i] = b[i] = to_unit_float(Philox(1)(static_cast<uint64_t>(i), 0)[0]);
  const void* srcs[] = {a, b};
  void* dsts[] = {dst};
  const Stopwatch whole;
  double best = 1e9;
  while (whole.seconds() < kSeconds) {
    const Stopwatch watch;
    kernel.launch({.srcs = srcs, .dsts = dsts, .workspace = dst + kSide * kSide});
    best = std::min(best, watch.seconds());
  }
  return 2.0 * kSide * kSide * kSide / best;
}

}  // namespace

double measure_matmul_flops(Environment& environment) {
  const auto kernel = prepare_square(environment);
  if (kernel == nullptr) return 0;
  const auto memory = hardware::AnonymousMapping::try_make(Bytes{needed_bytes(*kernel)}, hardware::PageKind::kHuge);
  return memory.ok() ? measure(*kernel, memory->data()) : 0;
}

double measure_matmul_flops(Environment& environment, std::span<std::byte> memory) {
  const auto kernel = prepare_square(environment);
  if (kernel == nullptr || std::ssize(memory) < needed_bytes(*kernel)) return 0;
  return measure(*kernel, memory.data());
}

}  // namespace plimsoll::engine
