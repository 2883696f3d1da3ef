#pragma once

#include <string>
#include <vector>

#include "models/model.h"

namespace plimsoll::models {

/// A chain of linear layers with an activation between them.
struct MlpConfig {
  int64_t in = 1;
  std::vector<int64_t> hidden = {};
  int64_t out = 1;
  std::string activation = "relu";  ///< relu, gelu, tanh, sigmoid
  std::string loss = "mse";         ///< mse, cross_entropy
  friend bool operator==(const MlpConfig&, const MlpConfig&) = default;
};

/// Errors: invalid_argument, naming the setting, what it is and what is allowed.
Status check_config(const MlpConfig& config);

/// The training loss of an MLP with parameters "layers.<i>.weight" [out,in] and "layers.<i>.bias", which start uniform
/// in ±1 / sqrt(in), as PyTorch's Linear does.
///
/// Inputs: x f32 [batch,in]; targets f32 [batch,out] for mse, i32 [batch] for cross_entropy, where -100 counts for
/// nothing and the scalar inv_valid_tokens f32 is 1 / valid targets of the whole update.
/// Errors: invalid_argument.
Result<Model> make_mlp(const MlpConfig& config, int64_t batch, const ops::OpTable& ops);

/// The same model for inference. Input: x. Output "prediction": [batch,out].
Result<Model> make_mlp_prediction(const MlpConfig& config, int64_t batch, const ops::OpTable& ops);

}  // namespace plimsoll::models
