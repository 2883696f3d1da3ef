#pragma once

#include "models/model.h"

namespace plimsoll::models {

/// Sizes of a BERT, named as in Hugging Face's configuration files.
struct BertConfig {
  int64_t vocab_size = 30522;
  int64_t max_position_embeddings = 512;
  int64_t type_vocab_size = 2;
  int64_t num_hidden_layers = 12;
  int64_t num_attention_heads = 12;
  int64_t hidden_size = 768;
  int64_t intermediate_size = 3072;
  double dropout = 0;  ///< of embeddings, attention weights and what attention and MLP add
  double initializer_range = 0.02;
  double layer_norm_eps = 1e-12;
  /// Whether sentence pairs are told apart (pooler, second head, input segments). Without: one segment, and the loss
  /// is that of the masked tokens alone.
  bool has_next_sentence = true;
  friend bool operator==(const BertConfig&, const BertConfig&) = default;
};

/// Errors: invalid_argument, naming the setting, what it is and what is allowed.
Status check_config(const BertConfig& config);

/// The pre-training loss of a BERT: mean cross-entropy of the tokens behind the mask, head tied to the word embedding,
/// plus that of whether the second sentence follows the first.
///
/// Parameters have the names and shapes of Hugging Face's BertForPreTraining ("bert.encoder.layer.0.attention.self.
/// query.weight" [d,d], …, "cls.seq_relationship.bias"). Weights start normal with `initializer_range`, cut off at two
/// standard deviations as in the published code, biases at zero.
/// Inputs: tokens, segments, targets i32 [batch,seq] and next_sentence i32 [batch] (1: no, 0: yes); without
/// has_next_sentence only tokens and targets. Target -100 counts for nothing. Scalars: inv_valid_tokens f32,
/// inv_valid_sentences f32 (1 / sentence pairs of the whole update); with dropout seed, step and microbatch i64.
/// Errors: invalid_argument. Source: Devlin et al., BERT, 2019.
Result<Model> make_bert(const BertConfig& config, int64_t batch, int64_t seq, const ops::OpTable& ops);

}  // namespace plimsoll::models
