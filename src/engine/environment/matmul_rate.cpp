#include "engine/environment/matmul_rate.h"

#include <algorithm>
#include <vector>

#include "core/bytes.h"
#include "core/philox.h"
#include "core/stopwatch.h"

namespace plimsoll::engine {
namespace {

constexpr int64_t kSide = 1024;
constexpr double kSeconds = 0.3;

/// 64-byte aligned memory of this many bytes inside `storage`.
std::byte* aligned_in(std::vector<std::byte>& storage, int64_t size_bytes) {
  storage.resize(static_cast<size_t>(size_bytes) + 64);
  return storage.data() + (64 - reinterpret_cast<uintptr_t>(storage.data()) % 64) % 64;
}

}  // namespace

double measure_matmul_flops(Environment& environment) {
  const TensorDesc desc{DType::kF32, {kSide, kSide}, {}};
  auto kernel = environment.backend().prepare({.op = "matmul",
                                               .attributes = {{"transpose_a", false}, {"transpose_b", false}},
                                               .srcs = {desc, desc},
                                               .dsts = {desc}});
  if (!kernel.ok()) return 0;
  std::vector<std::byte> a_storage, b_storage, c_storage, workspace_storage;
  auto* a = reinterpret_cast<float*>(aligned_in(a_storage, desc.size_bytes()));
  auto* b = reinterpret_cast<float*>(aligned_in(b_storage, desc.size_bytes()));
  std::byte* c = aligned_in(c_storage, desc.size_bytes());
  std::byte* workspace = aligned_in(workspace_storage, (*kernel)->workspace_bytes());
  for (int64_t i = 0; i < desc.numel(); ++i) a[i] = b[i] = to_unit_float(Philox(1)(static_cast<uint64_t>(i), 0)[0]);
  const void* srcs[] = {a, b};
  void* dsts[] = {c};
  const Stopwatch whole;
  double best = 1e9;
  while (whole.seconds() < kSeconds) {
    const Stopwatch watch;
    (*kernel)->launch({.srcs = srcs, .dsts = dsts, .workspace = workspace});
    best = std::min(best, watch.seconds());
  }
  return 2.0 * kSide * kSide * kSide / best;
}

}  // namespace plimsoll::engine
