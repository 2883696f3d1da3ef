// attention: softmax(scale · q · kᵀ) · v for each head, without the matrix of scores; and its gradient.
#include "ops/nn/attention.h"

#include <limits>
#include <optional>

#include "ops/elementwise/dropout_mask.h"
#include "ops/expect.h"
#include "ops/gradient.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

enum Src : size_t { kQ, kK, kV, kMask };
enum GradSrc : size_t { kO = 3, kLse, kDo, kGradMask };

AttentionSizes sizes_of(const OpCall& call) { return attention_sizes(call.srcs[kQ].shape, call.srcs[kK].shape); }

TensorDesc lse_desc(const AttentionSizes& sizes) {
  return {DType::kF32, {sizes.batch, sizes.heads, sizes.queries}, {}};
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_attention_srcs("attention", call.srcs.first(3), "k", "v"));
  const AttentionSizes sizes = sizes_of(call);
  PLIMSOLL_RETURN_IF_ERROR(check_attention_extras("attention", call, kMask, sizes));
  return std::vector<TensorDesc>{{DType::kF32, call.srcs[kQ].shape, {}}, lse_desc(sizes)};
}

Result<std::vector<TensorDesc>> infer_grad(const OpCall& call) {
  const std::string op = "attention_grad";
  PLIMSOLL_RETURN_IF_ERROR(check_attention_srcs(op, call.srcs.first(3), "k", "v"));
  const AttentionSizes sizes = sizes_of(call);
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "o", call.srcs[kO], call.srcs[kQ]));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "lse", call.srcs[kLse], lse_desc(sizes)));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "d_o", call.srcs[kDo], call.srcs[kQ]));
  PLIMSOLL_RETURN_IF_ERROR(check_attention_extras(op, call, kGradMask, sizes));
  return std::vector<TensorDesc>(call.srcs.begin(), call.srcs.begin() + 3);
}

/// `products` of head_size multiply-adds, a few operations of the softmax and those of dropout for each visible pair.
Cost cost_by_pair(const OpCall& call, int64_t products) {
  const AttentionSizes sizes = sizes_of(call);
  const int64_t pairs = sizes.batch * sizes.heads * visible_pairs(sizes, call.attributes.get_bool("causal"));
  const int64_t dropout = call.attributes.get_float("dropout") > 0 ? kDropoutFlopsAnElement : 0;
  return {.flops = pairs * (2 * products * sizes.head_size + 5 + dropout), .bytes = moved_bytes(call)};
}

/// Backward may keep the sum over d of d_o · o for each query beside its tiles.
int64_t workspace_bound_grad(const OpCall& call) {
  return attention_tile_bytes(sizes_of(call), 2, 8) + lse_desc(sizes_of(call)).size_bytes();
}

double dot(const Array& a, int64_t at_a, const Array& b, int64_t at_b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[at_a + i] * b[at_b + i];
  return sum;
}

/// Calls f(b, h, t) for every query of every head.
template <class F>
void for_each_query(const AttentionSizes& sizes, const F& f) {
  for (int64_t b = 0; b < sizes.batch; ++b)
    for (int64_t h = 0; h < sizes.heads; ++h)
      for (int64_t t = 0; t < sizes.queries; ++t) f(b, h, t);
}

/// What each weight is multiplied with after the softmax: 1 without dropout, else 0 or 1 / (1 - p) by the mask of its
/// index in the whole global batch.
class WeightFactors {
 public:
  WeightFactors(const AttentionSizes& sizes, std::span<const Array> srcs, const Attributes& attributes) {
    const double p = attributes.get_float("dropout");
    if (p == 0) return;
    const auto scalar = [&](size_t i) { return static_cast<int64_t>(srcs[srcs.size() - kAttentionScalars + i][0]); };
    mask_.emplace(scalar(0), attributes.get_string("path"), scalar(1), p);
    first_ = scalar(2) * sizes.weights();
    keep_factor_ = 1 / (1 - p);
  }
  double operator[](int64_t weight) const {
    if (!mask_) return 1;
    return mask_->keeps(static_cast<uint64_t>(first_ + weight)) ? keep_factor_ : 0;
  }

 private:
  std::optional<DropoutMask> mask_;
  int64_t first_ = 0;
  double keep_factor_ = 1;
};

/// The mask among the sources, or nullptr.
const Array* find_mask(std::span<const Array> srcs, size_t required, const Attributes& attributes) {
  return has_attention_mask(srcs.size(), required, attributes.get_float("dropout")) ? &srcs[required] : nullptr;
}

bool is_masked(const Array* mask, const AttentionSizes& sizes, int64_t b, int64_t s) {
  return mask != nullptr && (*mask)[b * sizes.keys + s] == 0;
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const AttentionSizes sizes = attention_sizes(srcs[kQ].desc.shape, srcs[kK].desc.shape);
  const double scale = attention_scale(attributes.get_float("scale"), sizes.head_size);
  const bool causal = attributes.get_bool("causal");
  const Array* mask = find_mask(srcs, kMask, attributes);
  const WeightFactors factors(sizes, srcs, attributes);
  for_each_query(sizes, [&](int64_t b, int64_t h, int64_t t) {
    const int64_t q = sizes.q_at(b, t, h);
    std::vector<double> scores;
    std::vector<bool> is_visible;
    for (int64_t s = 0; s < visible_keys(sizes, t, causal); ++s) {
      scores.push_back(scale * dot(srcs[kQ], q, srcs[kK], sizes.k_at(b, s, h), sizes.head_size));
      is_visible.push_back(!is_masked(mask, sizes, b, s));
    }
    const AttentionRow row = softmax_of_visible(std::move(scores), is_visible);
    dsts[1][sizes.lse_at(b, t, h)] = row.lse;
    for (int64_t s = 0; s < std::ssize(row.probabilities); ++s) {
      const double weight = row.probabilities[static_cast<size_t>(s)] * factors[sizes.weight_at(b, t, h, s)];
      for (int64_t i = 0; i < sizes.head_size; ++i) dsts[0][q + i] += weight * srcs[kV][sizes.k_at(b, s, h) + i];
    }
  });
}

/// With p = exp(scale q·k - lse), f the factor of dropout and d_s = p (f d_o·v - d_o·o): d_q = scale Σ d_s k,
/// d_k = scale Σ d_s q, d_v = Σ p f d_o. Since o = Σ p f v, d_o·o is Σ p f d_o·v, what the softmax's gradient takes
/// off.
void evaluate_grad(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const AttentionSizes sizes = attention_sizes(srcs[kQ].desc.shape, srcs[kK].desc.shape);
  const double scale = attention_scale(attributes.get_float("scale"), sizes.head_size);
  const int64_t n = sizes.head_size;
  const Array* mask = find_mask(srcs, kGradMask, attributes);
  const WeightFactors factors(sizes, srcs, attributes);
  for_each_query(sizes, [&](int64_t b, int64_t h, int64_t t) {
    const int64_t q = sizes.q_at(b, t, h);
    const double delta = dot(srcs[kDo], q, srcs[kO], q, n);
    for (int64_t s = 0; s < visible_keys(sizes, t, attributes.get_bool("causal")); ++s) {
      if (is_masked(mask, sizes, b, s)) continue;
      const int64_t k = sizes.k_at(b, s, h);
      const double p = std::exp(scale * dot(srcs[kQ], q, srcs[kK], k, n) - srcs[kLse][sizes.lse_at(b, t, h)]);
      const double factor = factors[sizes.weight_at(b, t, h, s)];
      const double d_score = scale * p * (factor * dot(srcs[kDo], q, srcs[kV], k, n) - delta);
      for (int64_t i = 0; i < n; ++i) {
        dsts[0][q + i] += d_score * srcs[kK][k + i];
        dsts[1][k + i] += d_score * srcs[kQ][q + i];
        dsts[2][k + i] += p * factor * srcs[kDo][q + i];
      }
    }
  });
}

void gradient(GradientContext& c) {
  std::vector<graph::ValueId> srcs{c.src(kQ), c.src(kK), c.src(kV), c.dst(0), c.dst(1), c.d_dst(0)};
  for (size_t i = kMask; i < c.src_count(); ++i) srcs.push_back(c.src(i));
  const auto d = c.add_all("attention_grad", srcs, c.attributes(), 3);
  for (size_t i = 0; i < 3; ++i)
    if (c.wants(i)) c.set_d_src(i, d[i]);
}

/// Batch elements know nothing of each other; dropout counts them, so that a piece would have another mask.
std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  if (call.attributes.get_float("dropout") > 0) return {};
  return {{.dst_axis = 0, .src_axes = std::vector<int>(call.srcs.size(), 0)}};
}

struct Extents {
  int64_t b, t, s, h, d;
};

std::vector<SampleSrc> sample_qkv(const Extents& e) {
  return {f32_src({e.b, e.t, e.h, e.d}, -2, 2), f32_src({e.b, e.s, e.h, e.d}, -2, 2), f32_src({e.b, e.s, e.h, e.d})};
}

const std::vector<Extents> kSmall{
    {1, 1, 1, 1, 1}, {2, 7, 7, 2, 3}, {1, 3, 7, 1, 4}, {1, 7, 3, 2, 2}, {1, 17, 17, 1, 5}};
const std::vector<Extents> kLarge{{2, 129, 65, 3, 17}, {1, 7, 1025, 1, 16}, {1, 1025, 17, 1, 8}, {3, 70, 70, 2, 64},
                                  {0, 4, 4, 1, 8},     {2, 0, 5, 1, 8},     {1, 3, 0, 2, 4}};

/// The first batch element attends to nothing where there are two or more, the others to random keys.
SampleSrc sample_mask(const Extents& e) {
  std::vector<double> values;
  for (int64_t i = 0; i < e.b * e.s; ++i) values.push_back((e.b < 2 || i >= e.s) && (i * 7 + i / 3) % 5 > 1);
  return values.empty() ? i32_src({e.b, e.s}, 0, 2) : exact_src(DType::kI32, {e.b, e.s}, values);
}

/// What weight dropout adds to a sample.
struct Dropping {
  double p, seed, step, microbatch;
};

/// The last one has counters and a key beyond 32 bits.
const std::vector<Dropping> kDropping{{0.25, 1234, 3, 0}, {0.5, 1234, 3, 3}, {0.1, 5e12, 5e9, 3e9}};

/// Sizes whose rows begin and end within a block of four random words.
const std::vector<Extents> kSmallDropped{{2, 7, 7, 2, 3}, {1, 3, 7, 1, 4}, {1, 7, 3, 2, 2}};
const std::vector<Extents> kLargeDropped{{2, 129, 65, 3, 17}, {1, 7, 1025, 1, 16}, {3, 70, 70, 2, 64}, {1, 3, 0, 2, 4}};

void add_dropout(Sample& sample, const Dropping& dropping) {
  for (const double scalar : {dropping.seed, dropping.step, dropping.microbatch})
    sample.srcs.push_back(scalar_src(DType::kI64, scalar));
  sample.attributes.set("dropout", dropping.p);
  sample.attributes.set("path", "h.0.attn.attention");
}

/// Calls add(extents, causal, has_mask, dropping, is_large) for the samples with dropout.
template <class Add>
void for_each_dropped(const Add& add) {
  for (size_t i = 0; i < kDropping.size(); ++i) {
    for (const Extents& e : kSmallDropped) add(e, i != 1, i != 0, kDropping[i], false);
    for (const Extents& e : kLargeDropped) add(e, i == 1, i == 2, kDropping[i], true);
  }
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](const Extents& e, bool causal, bool has_mask, bool has_gradient) {
    Sample sample{.srcs = sample_qkv(e), .attributes = {{"causal", causal}}, .has_gradient = has_gradient};
    if (has_mask) sample.srcs.push_back(sample_mask(e));
    out.push_back(sample);
  };
  for (const bool causal : {false, true})
    for (const bool has_mask : {false, true}) {
      for (const Extents& e : kSmall) add(e, causal, has_mask, true);
      for (const Extents& e : kLarge) add(e, causal, has_mask, false);
    }
  out.push_back({.srcs = sample_qkv({1, 4, 4, 2, 3}), .attributes = {{"causal", true}, {"scale", 0.25}}});
  for_each_dropped([&](const Extents& e, bool causal, bool has_mask, const Dropping& dropping, bool is_large) {
    add(e, causal, has_mask, !is_large);
    add_dropout(out.back(), dropping);
  });
  return out;
}

/// About the logarithm of a few scores' exponentials, and -inf where a query sees nothing.
SampleSrc sample_lse(const Extents& e, bool causal, bool has_mask) {
  const AttentionSizes sizes{.batch = e.b, .queries = e.t, .keys = e.s, .heads = e.h, .head_size = e.d};
  std::vector<double> values;
  for (int64_t b = 0; b < e.b; ++b)
    for (int64_t h = 0; h < e.h; ++h)
      for (int64_t t = 0; t < e.t; ++t) {
        const bool sees_nothing = visible_keys(sizes, t, causal) == 0 || (has_mask && b == 0 && e.b > 1);
        values.push_back(sees_nothing ? -std::numeric_limits<double>::infinity()
                                      : 4 + 0.125 * static_cast<double>(t % 8));
      }
  const Shape shape{e.b, e.h, e.t};
  return values.empty() ? f32_src(shape) : exact_src(DType::kF32, shape, values);
}

std::vector<Sample> samples_grad() {
  std::vector<Sample> out;
  const auto add = [&](const Extents& e, bool causal, bool has_mask) {
    Sample sample{.srcs = sample_qkv(e), .attributes = {{"causal", causal}}};
    const Shape o{e.b, e.t, e.h, e.d};
    sample.srcs.insert(sample.srcs.end(), {f32_src(o), sample_lse(e, causal, has_mask), f32_src(o)});
    if (has_mask) sample.srcs.push_back(sample_mask(e));
    out.push_back(sample);
  };
  for (const bool causal : {false, true})
    for (const bool has_mask : {false, true})
      for (const auto* list : {&kSmall, &kLarge})
        for (const Extents& e : *list) add(e, causal, has_mask);
  out.push_back({.srcs = {f32_src({1, 4, 2, 3}), f32_src({1, 4, 2, 3}), f32_src({1, 4, 2, 3}), f32_src({1, 4, 2, 3}),
                          f32_src({1, 2, 4}, 2, 3), f32_src({1, 4, 2, 3})},
                 .attributes = {{"causal", true}, {"scale", 0.25}}});
  for_each_dropped([&](const Extents& e, bool causal, bool has_mask, const Dropping& dropping, bool) {
    add(e, causal, has_mask);
    add_dropout(out.back(), dropping);
  });
  return out;
}

const std::vector<AttributeDef> kAttributes{
    {.name = "causal", .default_value = false, .doc = "query t of T sees keys <= t + S - T of S"},
    {.name = "scale", .default_value = 0.0, .doc = "factor on q · k; 0 means 1 / sqrt(D)"},
    {.name = "dropout",
     .default_value = 0.0,
     .doc = "probability that a weight is dropped after the softmax, as `dropout` drops element [b,h,t,s]; the scalars "
            "seed, step and microbatch come with it"},
    {.name = "path", .default_value = "", .doc = "tells apart the masks of one step"}};

}  // namespace

void define_attention(OpTable& table);

namespace {

const OpTable& attention_ops() {
  static const OpTable kTable = [] {
    OpTable table;
    define_attention(table);
    return table;
  }();
  return kTable;
}

}  // namespace

const OpDef& attention_def() { return attention_ops().at("attention"); }
const OpDef& attention_grad_def() { return attention_ops().at("attention_grad"); }

void define_attention(OpTable& table) {
  table.add({.name = "attention",
             .doc =
                 "o = softmax(scale q kᵀ) v, streaming over keys (Dao, FlashAttention-2, 2023, algorithm 1); a query "
                 "that sees no key gives 0 and lse = -inf; lse carries no gradient",
             .srcs = {"q", "k", "v", "mask", "seed", "step", "microbatch"},
             .dsts = {"o", "lse"},
             .optional_srcs = 4,
             .attributes = kAttributes,
             .infer = infer,
             .gradient = gradient,
             .saved_dsts = {1},
             .cost = [](const OpCall& call) { return cost_by_pair(call, 2); },
             .workspace_bound = [](const OpCall& call) { return attention_tile_bytes(sizes_of(call), 1, 4); },
             .chunkable = chunkable,
             .evaluate = evaluate,
             .samples = samples});
  table.add({.name = "attention_grad",
             .doc = "Gradients of attention; probabilities are made again from lse, tile by tile (FlashAttention-2, "
                    "algorithm 2)",
             .srcs = {"q", "k", "v", "o", "lse", "d_o", "mask", "seed", "step", "microbatch"},
             .dsts = {"d_q", "d_k", "d_v"},
             .optional_srcs = 4,
             .attributes = kAttributes,
             .infer = infer_grad,
             .cost = [](const OpCall& call) { return cost_by_pair(call, 5); },
             .workspace_bound = workspace_bound_grad,
             .chunkable = chunkable,
             .evaluate = evaluate_grad,
             .samples = samples_grad});
}

}  // namespace plimsoll::ops
