#pragma once

#include <optional>
#include <string>

#include "engine/generation/inference_plan.h"
#include "models/zoo.h"

namespace plimsoll::apps {

/// Tokens a sample of a step for which no number is given.
inline constexpr int64_t kDefaultSeq = 64;

/// The training step of a model of the zoo that `bench step` runs and `plan` shows, the same for both, so that a budget
/// which one names is enough for the other: AdamW, no clipping; BERT takes its loss at every position and has no second
/// head, as the peer in docs/benchmarks.md.
struct ZooStep {
  std::string model;
  int64_t batch = 4;             ///< samples a step
  std::optional<int64_t> seq{};  ///< tokens a sample, where it is given
  std::string fusions = "all";   ///< as transform::try_parse_fusions takes them

  /// Tokens a sample that the step has; for an MLP, which has none, it counts for nothing.
  int64_t tokens() const { return seq.value_or(kDefaultSeq); }
};

/// The settings of its model. Errors: invalid_argument, with the nearest name, or for tokens of what has no sequence.
Result<models::ModelConfig> find_config(const ZooStep& step);

/// Errors: infeasible where `ram` (bytes for the whole process) is set and too small, with what would help;
/// invalid_argument.
Result<engine::SessionPlan> plan_zoo_step(const ZooStep& step, engine::Environment& environment,
                                          std::optional<Bytes> ram);

/// The forward pass of the model with all its heads. Errors: as above.
Result<engine::InferencePlan> plan_zoo_inference(const ZooStep& step, engine::Environment& environment,
                                                 std::optional<Bytes> ram);

}  // namespace plimsoll::apps
