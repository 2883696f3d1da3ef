#pragma once

#include "ops/op_table.h"

namespace plimsoll::ops {

/// Every axis of the parameter: inputs of its shape are cut with it, step scalars go to every piece.
std::vector<ChunkableAxis> every_axis_of_param(const OpCall& call);

/// How Adam's variants apply weight decay.
enum class WeightDecay : uint8_t {
  kInGradient,  ///< L2: weight_decay · param is added to the gradient
  kDecoupled    ///< param shrinks by lr · weight_decay before the step
};

/// Adam or AdamW: their definitions differ only in where the decay enters.
OpDef make_adam_op(const std::string& name, std::string doc, WeightDecay decay);

}  // namespace plimsoll::ops
