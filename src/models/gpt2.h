#pragma once

#include "models/model.h"

namespace plimsoll::models {

/// Sizes of a GPT-2, named as in Hugging Face's configuration files.
struct Gpt2Config {
  int64_t vocab_size = 50257;
  int64_t block_size = 1024;  ///< the most positions that the model knows (n_positions)
  int64_t n_layer = 12;
  int64_t n_head = 12;
  int64_t n_embd = 768;
  double dropout = 0;  ///< of embeddings, attention weights and what attention and MLP add (embd_, attn_, resid_pdrop)
  double initializer_range = 0.02;
  double layer_norm_epsilon = 1e-5;
  friend bool operator==(const Gpt2Config&, const Gpt2Config&) = default;
};

/// Errors: invalid_argument, naming the setting, what it is and what is allowed.
Status check_config(const Gpt2Config& config);

/// The training loss of a GPT-2: mean cross-entropy of the next token, head tied to the token embedding.
///
/// Parameters have the names and shapes of Hugging Face's files ("h.0.attn.c_attn.weight" [d,3d], …). Weights start
/// normal with `initializer_range`, those of projections into the residual stream divided by sqrt(2 · n_layer), biases
/// at zero.
/// Inputs: tokens and targets, i32 [batch,seq]; target -100 counts for nothing. Scalars: inv_valid_tokens f32; with
/// dropout seed, step and microbatch i64.
/// Errors: invalid_argument. Source: Radford et al., Language Models are Unsupervised Multitask Learners, 2019.
Result<Model> make_gpt2(const Gpt2Config& config, int64_t batch, int64_t seq, const ops::OpTable& ops);

/// For which positions logits are made.
enum class LogitsOf : uint8_t { kAllPositions, kLastPosition };

/// The same model for inference. Input: tokens i32 [batch,seq]. Output "logits": [batch,seq,vocab_size], or
/// [batch,vocab_size] for the last position.
Result<Model> make_gpt2_logits(const Gpt2Config& config, int64_t batch, int64_t seq, LogitsOf positions,
                               const ops::OpTable& ops);

/// One step of generation with keys and values kept from step to step in the states "h.<layer>.attn.k_cache" and
/// "v_cache" [batch,context,n_head,n_embd / n_head]; parameters are those of training.
///
/// Inputs: tokens i32 [batch,tokens_per_step], positions i32 [tokens_per_step]. Scalar: position i64, the first of
/// these positions. Output "logits": [batch,vocab_size], of the step's last token.
/// Requires: position + tokens_per_step <= context. Errors: invalid_argument.
Result<Model> make_gpt2_decoder(const Gpt2Config& config, int64_t batch, int64_t tokens_per_step, int64_t context,
                                const ops::OpTable& ops);

}  // namespace plimsoll::models
