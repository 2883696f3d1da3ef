#include "backends/cpu/onednn.h"

#include <dnnl.h>
#include <omp.h>

#include <algorithm>
#include <array>

#include "core/check.h"

namespace plimsoll::backends::cpu {
namespace {

/// A setting of the calling thread: one thread each, so that libgomp starts none of its own beside our pool.
void use_one_thread() {
  thread_local const bool is_set = (omp_set_num_threads(1), true);
  static_cast<void>(is_set);
}

}  // namespace

void sgemm(const Sgemm& call) {
  PLIMSOLL_CHECK(std::min(call.m, call.n) <= kMostShortSide, call.m, " ", call.n);
  use_one_thread();
  const dnnl_status_t status =
      dnnl_sgemm(call.transpose_a ? 'T' : 'N', call.transpose_b ? 'T' : 'N', call.m, call.n, call.k, 1.0f, call.a,
                 call.stride_a, call.b, call.stride_b, call.adds ? 1.0f : 0.0f, call.dst, call.stride_dst);
  PLIMSOLL_CHECK(status == dnnl_success, "sgemm ", call.m, " ", call.n, " ", call.k, " status ",
                 static_cast<int>(status));
}

void compile_sgemm(bool transpose_a, bool transpose_b) {
  constexpr int64_t kSide = 16;
  std::array<float, kSide * kSide> a{}, b{}, dst{};
  for (const bool adds : {false, true})
    sgemm({.m = kSide,
           .n = kSide,
           .k = kSide,
           .transpose_a = transpose_a,
           .transpose_b = transpose_b,
           .a = a.data(),
           .stride_a = kSide,
           .b = b.data(),
           .stride_b = kSide,
           .dst = dst.data(),
           .stride_dst = kSide,
           .adds = adds});
}

}  // namespace plimsoll::backends::cpu
