// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Plimsoll in C++: a model is made in code from layers, compiled for a number of threads and a budget of RAM, and
/// stepped. `examples/mlp.cpp` is a whole program.

#include "api/training.h"
#include "api/value_or_throw.h"
#include "core/bytes.h"
#include "core/result.h"
#include "models/model.h"
#include "models/nn/attention.h"
#include "models/nn/layers.h"

namespace plimsoll {

using api::Exception;
using api::MemoryPlan;
using api::standard_ops;
using api::StepMetrics;
using api::Training;
using api::TrainingOptions;
using api::value_or_throw;
using graph::ValueId;
using models::Model;
using models::ModelBuilder;
using optim::OptimizerConfig;
namespace nn = models::nn;

}  // namespace plimsoll
