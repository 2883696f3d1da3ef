#include "models/gpt2.h"

#include <cmath>

#include "models/nn/attention.h"
#include "models/sizes.h"

namespace plimsoll::models {
namespace {

using graph::ValueId;
using nn::LinearOptions;
using nn::WeightOrder;

/// Appends GPT-2's parts; one an object and graph.
class Gpt2 {
 public:
  /// `context`: rows of the key/value caches; 0: attention within the input alone.
  Gpt2(ModelBuilder& builder, const Gpt2Config& config, int64_t context = 0)
      : b_(builder),
        c_(config),
        context_(context),
        plain_{.weight = normal(c_.initializer_range), .order = WeightOrder::kInOut},
        residual_{.weight = normal(c_.initializer_range / std::sqrt(2.0 * static_cast<double>(c_.n_layer))),
                  .order = WeightOrder::kInOut},
        wte_(table("wte", c_.vocab_size)),
        wpe_(table("wpe", c_.block_size)) {}

  ValueId wte() const { return wte_; }

  /// The first positions of the sequence.
  ValueId first_positions(int64_t seq) { return nn::leading_rows(b_, "wpe", wpe_, seq); }
  ValueId positions(ValueId ids) { return nn::embedding(b_, "wpe", wpe_, ids); }

  /// Shapes: tokens [B,T], positions [T,d] → [B,T,d], before the last norm.
  ValueId blocks(ValueId tokens, ValueId positions) {
    ValueId x = b_.add("add", {nn::embedding(b_, "wte", wte_, tokens), positions}, {}, {.name = "embeddings"});
    x = nn::dropout(b_, "drop", x, c_.dropout);
    for (int64_t i = 0; i < c_.n_layer; ++i) {
      const auto scope = b_.scope("h." + std::to_string(i));
      x = block(x);
    }
    return x;
  }

  ValueId last_norm(ValueId x) { return norm("ln_f", x); }

  /// Shapes: x [...,d] → [...,V].
  ValueId logits(ValueId x) {
    return b_.add("matmul", {last_norm(x), wte_}, {{"transpose_b", true}}, {.name = "lm_head"});
  }

  /// Shapes: x [B,T,d] → [B,d], the last position's rows.
  ValueId last_position(ValueId x) {
    if (!b_.status().ok()) return {};
    const Shape shape = b_.desc(x).shape;
    if (shape[1] > 1)
      x = b_.add("slice", {x},
                 {{"starts", std::vector<int64_t>{0, shape[1] - 1, 0}},
                  {"ends", std::vector<int64_t>{shape[0], shape[1], shape[2]}}});
    return nn::reshape(b_, x, {shape[0], shape[2]});
  }

 private:
  ValueId table(const std::string& name, int64_t rows) {
    return nn::embedding_table(b_, name, rows, c_.n_embd, normal(c_.initializer_range));
  }

  ValueId norm(const std::string& name, ValueId x) { return nn::layer_norm(b_, name, x, c_.layer_norm_epsilon); }

  ValueId block(ValueId x) {
    x = b_.add("add", {x, attention(norm("ln_1", x))}, {}, {.name = "attn.residual"});
    return b_.add("add", {x, mlp(norm("ln_2", x))}, {}, {.name = "mlp.residual"});
  }

  ValueId attention(ValueId x) {
    const auto scope = b_.scope("attn");
    const nn::Heads heads = nn::split_heads(b_, nn::linear(b_, "c_attn", x, 3 * c_.n_embd, plain_), c_.n_head);
    const ValueId y = context_ > 0 ? nn::attend_cached(b_, heads, context_)
                                   : nn::attend(b_, heads, {.is_causal = true, .mask = {}, .dropout = c_.dropout});
    return nn::dropout(b_, "resid_dropout", nn::linear(b_, "c_proj", y, c_.n_embd, residual_), c_.dropout);
  }

  ValueId mlp(ValueId x) {
    const auto scope = b_.scope("mlp");
    const ValueId y = nn::feed_forward(b_, x,
                                       {.up = "c_fc",
                                        .down = "c_proj",
                                        .hidden = 4 * c_.n_embd,
                                        .gelu = "tanh",
                                        .up_options = plain_,
                                        .down_options = residual_});
    return nn::dropout(b_, "dropout", y, c_.dropout);
  }

  ModelBuilder& b_;
  const Gpt2Config& c_;
  int64_t context_;
  LinearOptions plain_;
  LinearOptions residual_;
  ValueId wte_;
  ValueId wpe_;
};

TensorDesc ids(Shape shape) { return {DType::kI32, shape, {}}; }

Gpt2Config without_dropout(Gpt2Config config) {
  config.dropout = 0;
  return config;
}

/// The model with "logits" as its output, or the first mistake.
Result<Model> finish(Model model, const ModelBuilder& b, ValueId logits) {
  PLIMSOLL_RETURN_IF_ERROR(b.status());
  model.graph.add_output("logits", logits);
  return model;
}

}  // namespace

Status check_config(const Gpt2Config& c) {
  PLIMSOLL_RETURN_IF_ERROR(check_sizes("gpt2", {{"vocab_size", c.vocab_size, kMostIds},
                                                {"block_size", c.block_size, kMostIds},
                                                {"n_layer", c.n_layer, kMostLayers},
                                                {"n_head", c.n_head, kMostWidth},
                                                {"n_embd", c.n_embd, kMostWidth}}));
  PLIMSOLL_RETURN_IF_ERROR(check_heads("gpt2", {.name = "n_head", .value = c.n_head}, {"n_embd", c.n_embd}));
  PLIMSOLL_RETURN_IF_ERROR(check_start_and_norm("gpt2", c.initializer_range, c.layer_norm_epsilon));
  return check_dropout("gpt2", c.dropout);
}

Result<Model> make_gpt2(const Gpt2Config& config, int64_t batch, int64_t seq, const ops::OpTable& ops) {
  PLIMSOLL_RETURN_IF_ERROR(check_config(config));
  PLIMSOLL_RETURN_IF_ERROR(check_batch("gpt2", batch, seq, config.block_size));
  Model model{.name = "gpt2", .graph = graph::Graph("gpt2"), .loss = {}, .parameters = {}};
  ModelBuilder b(model, ops);
  const ValueId tokens = b.input("tokens", ids({batch, seq}));
  const ValueId targets = b.input("targets", ids({batch, seq}));
  Gpt2 gpt2(b, config);
  const ValueId x = gpt2.last_norm(gpt2.blocks(tokens, gpt2.first_positions(seq)));
  const ValueId rows = nn::reshape(b, x, {batch * seq, config.n_embd});
  model.loss =
      b.add("linear_cross_entropy",
            {rows, gpt2.wte(), nn::reshape(b, targets, {batch * seq}), b.scalar("inv_valid_tokens", DType::kF32)}, {},
            {.name = "loss"});
  PLIMSOLL_RETURN_IF_ERROR(b.status());
  return model;
}

Result<Model> make_gpt2_logits(const Gpt2Config& config, int64_t batch, int64_t seq, LogitsOf positions,
                               const ops::OpTable& ops) {
  PLIMSOLL_RETURN_IF_ERROR(check_config(config));
  PLIMSOLL_RETURN_IF_ERROR(check_batch("gpt2", batch, seq, config.block_size));
  Model model{.name = "gpt2", .graph = graph::Graph("gpt2.logits"), .loss = {}, .parameters = {}};
  ModelBuilder b(model, ops);
  const Gpt2Config inference = without_dropout(config);
  const ValueId tokens = b.input("tokens", ids({batch, seq}));
  Gpt2 gpt2(b, inference);
  ValueId x = gpt2.blocks(tokens, gpt2.first_positions(seq));
  if (positions == LogitsOf::kLastPosition) x = gpt2.last_position(x);
  const ValueId logits = gpt2.logits(x);
  return finish(std::move(model), b, logits);
}

Result<Model> make_gpt2_decoder(const Gpt2Config& config, int64_t batch, int64_t tokens_per_step, int64_t context,
                                const ops::OpTable& ops) {
  PLIMSOLL_RETURN_IF_ERROR(check_config(config));
  PLIMSOLL_RETURN_IF_ERROR(
      check_sizes("gpt2", {{"context", context, config.block_size}, {"tokens_per_step", tokens_per_step, context}}));
  PLIMSOLL_RETURN_IF_ERROR(check_batch("gpt2", batch, context, config.block_size));
  Model model{.name = "gpt2", .graph = graph::Graph("gpt2.decoder"), .loss = {}, .parameters = {}};
  ModelBuilder b(model, ops);
  const Gpt2Config inference = without_dropout(config);
  const ValueId tokens = b.input("tokens", ids({batch, tokens_per_step}));
  const ValueId positions = b.input("positions", ids({tokens_per_step}));
  Gpt2 gpt2(b, inference, context);
  const ValueId x = gpt2.blocks(tokens, gpt2.positions(positions));
  const ValueId logits = gpt2.logits(gpt2.last_position(x));
  return finish(std::move(model), b, logits);
}

}  // namespace plimsoll::models
