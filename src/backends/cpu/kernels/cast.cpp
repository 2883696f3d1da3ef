// cast: the same numbers in another element type.
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

/// Types that C++20 has no name for.
struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};
struct Bool {
  uint8_t bits;
};

template <class T>
T to_number(T x) {
  return x;
}
int32_t to_number(Bool x) { return x.bits != 0 ? 1 : 0; }
float to_number(Bf16 x) { return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }
float to_number(F16 x) {
  // Moved up, the 15 bits are an f32 whose exponent is 112 too small; infinity and NaN have their own exponent.
  const uint32_t magnitude = static_cast<uint32_t>(x.bits & 0x7fff) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const uint32_t bits = (x.bits & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000 : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | static_cast<uint32_t>(x.bits & 0x8000) << 16);
}

/// Rounds to the nearest, ties to even; whole numbers go towards zero and stop at their type's ends.
template <class To, class N>
struct FromNumber {
  static To of(N x) {
    if constexpr (std::is_integral_v<To>) {
      constexpr To kLeast = std::numeric_limits<To>::min();
      constexpr To kMost = std::numeric_limits<To>::max();
      if constexpr (std::is_integral_v<N>) {
        if (std::cmp_less(x, kLeast)) return kLeast;
        if (std::cmp_greater(x, kMost)) return kMost;
      } else {
        if (!(x > static_cast<N>(kLeast))) return x != x ? To{0} : kLeast;
        if (x >= static_cast<N>(kMost)) return kMost;
      }
    }
    return static_cast<To>(x);
  }
};

/// x as an f32 that rounds to any narrower type as x itself does: cut towards zero, with the last bit set where
/// something was cut off (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008, section 3).
template <class N>
float to_odd_float(N x) {
  const auto nearest = static_cast<float>(x);
  const auto exact = static_cast<double>(x);
  if (std::isnan(nearest) || static_cast<double>(nearest) == exact) return nearest;
  const auto bits = std::bit_cast<uint32_t>(nearest);
  const bool is_beyond = std::abs(static_cast<double>(nearest)) > std::abs(exact);
  return std::bit_cast<float>((is_beyond ? bits - 1 : bits) | 1);
}

template <class N>
struct FromNumber<Bool, N> {
  static Bool of(N x) { return {static_cast<uint8_t>(x != N{0} ? 1 : 0)}; }
};
template <class N>
struct FromNumber<Bf16, N> {
  static Bf16 of(N x) {
    const float value = to_odd_float(x);
    if (std::isnan(value)) return {0x7fc0};
    const auto bits = std::bit_cast<uint32_t>(value);
    return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  }
};
template <class N>
struct FromNumber<F16, N> {
  static F16 of(N x) {
    const auto value = static_cast<double>(x);
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::abs(value);
    if (std::isnan(value)) return {0x7e00};
    if (magnitude >= 65520) return {static_cast<uint16_t>(sign | 0x7c00)};
    // Steps of 2^-24 below the least normal number, 11 significant bits above it; a carry runs into the exponent.
    const bool is_normal = magnitude >= 0x1p-14;
    const int exponent = is_normal ? std::ilogb(magnitude) : -14;
    const int steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    return {static_cast<uint16_t>(sign | (is_normal ? (exponent + 14) * 1024 + steps : steps))};
  }
};

template <class From, class To>
std::unique_ptr<Kernel> make_cast(int64_t numel, ThreadPool& pool) {
  return make_kernel([cut = cut_by_cost(numel, kElementwiseCost, kLineElements), &pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) {
      const auto* from = src<From>(args, 0);
      auto* to = dst<To>(args, 0);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const auto number = to_number(from[i]);
        to[i] = FromNumber<To, std::remove_const_t<decltype(number)>>::of(number);
      }
    });
  });
}

/// Calls body.operator()<T>() with the type that stores `dtype`.
template <class Body>
auto with_type(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::kF32: return body.template operator()<float>();
    case DType::kBF16: return body.template operator()<Bf16>();
    case DType::kF16: return body.template operator()<F16>();
    case DType::kF64: return body.template operator()<double>();
    case DType::kI8: return body.template operator()<int8_t>();
    case DType::kU8: return body.template operator()<uint8_t>();
    case DType::kU16: return body.template operator()<uint16_t>();
    case DType::kI32: return body.template operator()<int32_t>();
    case DType::kU32: return body.template operator()<uint32_t>();
    case DType::kI64: return body.template operator()<int64_t>();
    case DType::kBool: break;
  }
  return body.template operator()<Bool>();
}

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  const int64_t numel = kernel.dsts[0].numel();
  return with_type(kernel.srcs[0].dtype, [&]<class From>() {
    return with_type(kernel.dsts[0].dtype, [&]<class To>() { return make_cast<From, To>(numel, context.pool); });
  });
}

}  // namespace

void define_cast(KernelTable& table) { table.add("cast", prepare); }

}  // namespace plimsoll::backends::cpu
