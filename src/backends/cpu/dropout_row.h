// Dropout of f32 rows that Highway kernels share; included once per instruction set like simd.h.
#if defined(PLIMSOLL_BACKENDS_CPU_DROPOUT_ROW_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_BACKENDS_CPU_DROPOUT_ROW_H
#undef PLIMSOLL_BACKENDS_CPU_DROPOUT_ROW_H
#else
#define PLIMSOLL_BACKENDS_CPU_DROPOUT_ROW_H
#endif

#include <algorithm>

#include "backends/cpu/dropout_draw.h"
#include "backends/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {

using U64 = hn::ScalableTag<uint64_t>;

#if HWY_TARGET == HWY_SCALAR

/// Blocks of one call of draw_blocks.
inline uint64_t blocks_drawn() { return 1; }

/// Factors of the four elements of a block.
inline void draw_blocks(const DropoutDraw& draw, uint64_t block, float* factors) {
  for (const uint32_t word : Philox(draw.key)(block, draw.step))
    *factors++ = word >> 8 >= draw.drop_below ? draw.keep_factor : 0.0f;
}

#else

using U32 = hn::Repartition<uint32_t, U64>;
using VU64 = hn::Vec<U64>;

/// The state of Philox for as many blocks as a vector has lanes. A word lies in the lower half of its lane, since that
/// is what the wide multiply reads; upper halves hold anything.
///
/// Source: core/philox.h.
struct Blocks {
  VU64 x0, x1, x2, x3;

  Blocks(uint64_t first_block, uint64_t step)
      : x0(hn::Iota(U64(), first_block)),
        x1(hn::ShiftRight<32>(x0)),
        x2(hn::Set(U64(), step)),
        x3(hn::Set(U64(), step >> 32)) {}

  void round(VU64 k0, VU64 k1) {
    const auto multiply = [](VU64 x, uint32_t factor) {
      return hn::MulEven(hn::BitCast(U32(), x), hn::Set(U32(), factor));
    };
    const VU64 p0 = multiply(x0, Philox::kMultiplier0);
    const VU64 p1 = multiply(x2, Philox::kMultiplier1);
    x0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), x1), k0);
    x1 = p1;
    x2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), x3), k1);
    x3 = p0;
  }
};

/// Factors of the elements of two words each: 0 where the word drops its element.
inline VU64 factors_of(const DropoutDraw& draw, VU64 word, VU64 next_word) {
  const U32 d;
  const hn::RebindToSigned<U32> di;
  const hn::RebindToFloat<U32> df;
  const auto words = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(next_word)), hn::BitCast(d, word));
  const auto kept =
      hn::Gt(hn::BitCast(di, hn::ShiftRight<8>(words)), hn::Set(di, static_cast<int32_t>(draw.drop_below) - 1));
  return hn::BitCast(U64(), hn::IfThenElseZero(hn::RebindMask(df, kept), hn::Set(df, draw.keep_factor)));
}

inline void store_factors(const DropoutDraw& draw, const Blocks& x, float* factors) {
  hn::StoreInterleaved2(factors_of(draw, x.x0, x.x1), factors_of(draw, x.x2, x.x3), U64(),
                        reinterpret_cast<uint64_t*>(factors));
}

/// Blocks of one call of draw_blocks: two vectors, since each round waits for the one before.
inline uint64_t blocks_drawn() { return 2 * hn::Lanes(U64()); }

/// Factors of the elements of blocks_drawn() blocks from `block` on.
inline void draw_blocks(const DropoutDraw& draw, uint64_t block, float* factors) {
  const U64 d;
  Blocks a(block, draw.step), b(block + hn::Lanes(d), draw.step);
  VU64 k0 = hn::Set(d, draw.key), k1 = hn::Set(d, draw.key >> 32);
  for (int round = 0; round < 10; ++round) {
    a.round(k0, k1);
    b.round(k0, k1);
    k0 = hn::Add(k0, hn::Set(d, uint64_t{Philox::kWeyl0}));
    k1 = hn::Add(k1, hn::Set(d, uint64_t{Philox::kWeyl1}));
  }
  store_factors(draw, a, factors);
  store_factors(draw, b, factors + 4 * hn::Lanes(d));
}

#endif

static_assert(HWY_MAX_BYTES + 3 <= kFactorSlack || HWY_MAX_BYTES > 64);

/// The factors of elements [first, first + n) of the global batch, 0 or keep_factor; they stand within `room`, which
/// holds n + kFactorSlack floats, aligned to 8 bytes.
inline const float* make_factors(const DropoutDraw& draw, uint64_t first, int64_t n, float* room) {
  const uint64_t end = first + static_cast<uint64_t>(n);
  float* out = room;
  for (uint64_t block = first / 4; 4 * block < end; block += blocks_drawn(), out += 4 * blocks_drawn())
    draw_blocks(draw, block, out);
  return room + first % 4;
}

/// x[i] *= factors[i]
inline void multiply_row(float* x, const float* factors, int64_t n) {
  map<Run::kAlong, Run::kAlong>([](F32, VF v, VF factor) { return hn::Mul(v, factor); }, x, factors, x, n);
}

/// y[i] = x[i] · keep_factor, or 0 whatever x[i] is, for elements [first, first + n) of the global batch. y may be x.
inline void drop_row(const DropoutDraw& draw, uint64_t first, const float* x, float* y, int64_t n) {
  constexpr int64_t kChunk = 128;
  HWY_ALIGN float room[kChunk + kFactorSlack];
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t count = std::min(kChunk, n - i);
    const float* factors = make_factors(draw, first + static_cast<uint64_t>(i), count, room);
    map<Run::kAlong, Run::kAlong>(
        [](F32 d, VF v, VF factor) { return hn::IfThenZeroElse(hn::Eq(factor, hn::Zero(d)), hn::Mul(v, factor)); },
        x + i, factors, y + i, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#endif
