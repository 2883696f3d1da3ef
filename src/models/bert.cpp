#include "models/bert.h"

#include "models/nn/attention.h"
#include "models/sizes.h"

namespace plimsoll::models {
namespace {

using graph::ValueId;

/// Appends BERT's parts; one an object and graph.
class Bert {
 public:
  Bert(ModelBuilder& builder, const BertConfig& config)
      : b_(builder), c_(config), plain_{.weight = truncated_normal(c_.initializer_range)} {
    const auto scope = b_.scope("bert.embeddings");
    words_ = table("word_embeddings", c_.vocab_size);
    positions_ = table("position_embeddings", c_.max_position_embeddings);
    types_ = table("token_type_embeddings", c_.type_vocab_size);
  }

  ValueId words() const { return words_; }

  /// Shapes: tokens and segments [B,T] → [B,T,d]. `segments` may be invalid: all the first.
  ValueId encode(ValueId tokens, ValueId segments, int64_t seq) {
    const auto scope = b_.scope("bert");
    ValueId x = embed(tokens, segments, seq);
    for (int64_t i = 0; i < c_.num_hidden_layers; ++i) {
      const auto layer = b_.scope("encoder.layer." + std::to_string(i));
      x = feed_forward(attention(x));
    }
    return x;
  }

  /// Shapes: x [B,T,d] → what the tied decoder projects to the vocabulary, [B·T,d].
  ValueId transform(ValueId x) {
    const auto scope = b_.scope("cls.predictions.transform");
    const ValueId rows = nn::reshape(b_, x, {-1, c_.hidden_size});
    return norm("LayerNorm", b_.add("gelu", {nn::linear(b_, "dense", rows, c_.hidden_size, plain_)}));
  }

  /// Shapes: x [B,T,d] → [B,2].
  ValueId relationship(ValueId x) {
    const ValueId first = b_.add("slice", {x}, first_position(x), {.name = "bert.pooler.first"});
    const ValueId pooled = b_.add(
        "tanh",
        {nn::linear(b_, "bert.pooler.dense", nn::reshape(b_, first, {-1, c_.hidden_size}), c_.hidden_size, plain_)});
    return nn::linear(b_, "cls.seq_relationship", pooled, 2, plain_);
  }

 private:
  ValueId table(const std::string& name, int64_t rows) {
    return nn::embedding_table(b_, name, rows, c_.hidden_size, truncated_normal(c_.initializer_range));
  }

  ValueId norm(const std::string& name, ValueId x) { return nn::layer_norm(b_, name, x, c_.layer_norm_eps); }

  ValueId embed(ValueId tokens, ValueId segments, int64_t seq) {
    const auto scope = b_.scope("embeddings");
    ValueId x = nn::embedding(b_, "word_embeddings", words_, tokens);
    x = b_.add("add", {x, nn::leading_rows(b_, "position_embeddings", positions_, seq)});
    const ValueId type = segments.is_valid() ? nn::embedding(b_, "token_type_embeddings", types_, segments)
                                             : nn::leading_rows(b_, "token_type_embeddings", types_, 1);
    return nn::dropout(b_, "dropout", norm("LayerNorm", b_.add("add", {x, type})), c_.dropout);
  }

  /// The norm of the sum, after dropout: BERT is post-norm.
  ValueId add_and_norm(ValueId x, ValueId added) {
    return norm("output.LayerNorm", b_.add("add", {x, nn::dropout(b_, "output.dropout", added, c_.dropout)}));
  }

  ValueId attention(ValueId x) {
    const auto scope = b_.scope("attention");
    const auto project = [&](const char* name) { return nn::linear(b_, name, x, c_.hidden_size, plain_); };
    const ValueId q = project("self.query"), k = project("self.key"), v = project("self.value");
    const ValueId y = nn::attend(b_, nn::view_as_heads(b_, q, k, v, c_.num_attention_heads),
                                 {.is_causal = false, .mask = {}, .dropout = c_.dropout});
    return add_and_norm(x, nn::linear(b_, "output.dense", y, c_.hidden_size, plain_));
  }

  ValueId feed_forward(ValueId x) {
    return add_and_norm(x, nn::feed_forward(b_, x,
                                            {.up = "intermediate.dense",
                                             .down = "output.dense",
                                             .hidden = c_.intermediate_size,
                                             .up_options = plain_,
                                             .down_options = plain_}));
  }

  Attributes first_position(ValueId x) const {
    if (!b_.status().ok()) return {};
    return {{"starts", std::vector<int64_t>{0, 0, 0}},
            {"ends", std::vector<int64_t>{b_.desc(x).shape[0], 1, c_.hidden_size}}};
  }

  ModelBuilder& b_;
  const BertConfig& c_;
  nn::LinearOptions plain_;
  ValueId words_;
  ValueId positions_;
  ValueId types_;
};

ValueId masked_token_loss(ModelBuilder& b, Bert& bert, const BertConfig& config, ValueId x, ValueId targets) {
  const ValueId rows = bert.transform(x);
  const ValueId bias = b.weight("cls.predictions.bias", {config.vocab_size}, constant(0), false);
  return b.add("linear_cross_entropy",
               {rows, bert.words(), nn::reshape(b, targets, {-1}), b.scalar("inv_valid_tokens", DType::kF32), bias}, {},
               {.name = config.has_next_sentence ? "masked_token_loss" : "loss"});
}

}  // namespace

Status check_config(const BertConfig& c) {
  PLIMSOLL_RETURN_IF_ERROR(check_sizes("bert", {{"vocab_size", c.vocab_size, kMostIds},
                                                {"max_position_embeddings", c.max_position_embeddings, kMostIds},
                                                {"type_vocab_size", c.type_vocab_size, kMostIds},
                                                {"num_hidden_layers", c.num_hidden_layers, kMostLayers},
                                                {"num_attention_heads", c.num_attention_heads, kMostWidth},
                                                {"hidden_size", c.hidden_size, kMostWidth},
                                                {"intermediate_size", c.intermediate_size, 4 * kMostWidth}}));
  PLIMSOLL_RETURN_IF_ERROR(check_heads("bert", {"num_attention_heads", c.num_attention_heads, kMostWidth},
                                       {"hidden_size", c.hidden_size, kMostWidth}));
  PLIMSOLL_RETURN_IF_ERROR(check_start_and_norm("bert", c.initializer_range, c.layer_norm_eps));
  return check_dropout("bert", c.dropout);
}

Result<Model> make_bert(const BertConfig& config, int64_t batch, int64_t seq, const ops::OpTable& ops) {
  PLIMSOLL_RETURN_IF_ERROR(check_config(config));
  PLIMSOLL_RETURN_IF_ERROR(check_batch("bert", batch, seq, config.max_position_embeddings));
  Model model{.name = "bert", .graph = graph::Graph("bert"), .loss = {}, .parameters = {}};
  ModelBuilder b(model, ops);
  const TensorDesc ids{DType::kI32, {batch, seq}, {}};
  const ValueId tokens = b.input("tokens", ids);
  const ValueId segments = config.has_next_sentence ? b.input("segments", ids) : ValueId{};
  const ValueId targets = b.input("targets", ids);
  Bert bert(b, config);
  const ValueId x = bert.encode(tokens, segments, seq);
  model.loss = masked_token_loss(b, bert, config, x, targets);
  if (config.has_next_sentence) {
    const ValueId next = b.input("next_sentence", {DType::kI32, {batch}, {}});
    const ValueId sentences =
        b.add("cross_entropy", {bert.relationship(x), next, b.scalar("inv_valid_sentences", DType::kF32)}, {},
              {.name = "next_sentence_loss"});
    model.loss = b.add("add", {model.loss, sentences}, {}, {.name = "loss"});
  }
  PLIMSOLL_RETURN_IF_ERROR(b.status());
  return model;
}

}  // namespace plimsoll::models
