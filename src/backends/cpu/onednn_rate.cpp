#include "backends/cpu/onednn_rate.h"

#include <omp.h>

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>

#include "core/stopwatch.h"

namespace plimsoll::backends::cpu {
namespace {

using DataType = dnnl::memory::data_type;

constexpr int64_t kSide = 1024;
constexpr double kSeconds = 0.3;

double measure(DataType a_type, DataType b_type, DataType dst_type) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const auto square = [](DataType type) {
    return dnnl::memory::desc({kSide, kSide}, type, dnnl::memory::format_tag::ab);
  };
  const dnnl::matmul::desc product(square(a_type), square(b_type), square(dst_type));
  const dnnl::matmul kernel(dnnl::matmul::primitive_desc(product, engine));
  // oneDNN allocates the operands; all bytes 0 are valid numbers of each type.
  dnnl::memory a(square(a_type), engine), b(square(b_type), engine), dst(square(dst_type), engine);
  for (dnnl::memory* operand : {&a, &b})
    std::fill_n(static_cast<char*>(operand->get_data_handle()), operand->get_desc().get_size(), char{0});
  const Stopwatch whole;
  double best = 1e9;
  while (whole.seconds() < kSeconds) {
    const Stopwatch watch;
    kernel.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, dst}});
    stream.wait();
    best = std::min(best, watch.seconds());
  }
  return 2.0 * kSide * kSide * kSide / best;
}

}  // namespace

double measure_onednn_rate(ProductTypes types) {
  omp_set_num_threads(1);
  try {
    switch (types) {
      case ProductTypes::kF32: return measure(DataType::f32, DataType::f32, DataType::f32);
      case ProductTypes::kBf16: return measure(DataType::bf16, DataType::bf16, DataType::f32);
      case ProductTypes::kU8S8: return measure(DataType::u8, DataType::s8, DataType::s32);
    }
  } catch (const dnnl::error&) {
    // The library's way to say that it has no kernel.
  }
  return 0;
}

}  // namespace plimsoll::backends::cpu
