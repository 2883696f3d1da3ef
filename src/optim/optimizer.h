#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "ops/builder.h"
#include "transform/autodiff.h"

namespace plimsoll::optim {

/// Which update rule, with its settings, named as in PyTorch.
struct OptimizerConfig {
  std::string name = "adamw";  ///< sgd, adam, adamw
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  bool amsgrad = false;
};

/// How an update treats gradients as a whole.
struct UpdateOptions {
  double clip_norm = std::numeric_limits<double>::infinity();  ///< of the global 2-norm
  bool checks_gradients = true;                                ///< stop before any update where the norm is not finite
  bool keeps_gradients = false;  ///< gradients, not yet clipped, are outputs named by `gradient_output`
  /// Whether weight decay applies to a parameter.
  std::function<bool(const graph::Value& parameter)> decays = [](const graph::Value&) { return true; };
};

/// The graph's output that holds a parameter's gradient: "gradient.<parameter>".
std::string gradient_output(std::string_view parameter);

/// Appends the update phase to a training graph: the global norm where it is needed, then one node a parameter, each
/// with its moments as state named "<parameter>.<moment>". Adds the output "grad_norm" where the norm is computed.
///
/// Scalars: "lr" f32, and for Adam "step" i64, counted from 1. Errors: invalid_argument for an unknown name or setting.
/// Source: Kingma and Ba, Adam, 2015, algorithm 1; Loshchilov and Hutter, Decoupled weight decay, 2019, algorithm 2.
Status add_updates(ops::Builder& builder, const transform::Gradients& gradients, const OptimizerConfig& config,
                   const UpdateOptions& options);

}  // namespace plimsoll::optim
