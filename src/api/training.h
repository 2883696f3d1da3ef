#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/bytes.h"
#include "memory/ledger.h"
#include "models/model.h"
#include "optim/optimizer.h"

namespace plimsoll::engine {
class Environment;
class Session;
}  // namespace plimsoll::engine

namespace plimsoll::api {

/// The ops that a ModelBuilder takes; made at the first call, alive until the process ends.
const ops::OpTable& standard_ops();

/// For which machine and budget a model is compiled, and how it is trained.
struct TrainingOptions {
  int threads = 0;             ///< 0: as many as the process may use; results do not depend on it
  std::optional<Bytes> ram{};  ///< for the whole process; none: what the machine can give now
  Bytes own_data{};            ///< part of `ram` that the calling program holds itself, inputs of a step included
  optim::OptimizerConfig optimizer{};
  double clip_norm = std::numeric_limits<double>::infinity();  ///< of the gradients' global 2-norm
  int64_t microbatches = 1;     ///< an update runs the model so often; loss and gradients are sums over these runs
  uint64_t seed = 0;            ///< of initial parameters and dropout; at most 2^53
  bool keep_gradients = false;  ///< gradients stay readable after a step, which takes memory
};

/// What was decided and proven before any memory was taken.
struct MemoryPlan {
  Bytes ram;                   ///< that the whole process needs
  Bytes arena;                 ///< the one allocation: state region, then step region
  Bytes state;                 ///< parameters and optimizer state
  Bytes step;                  ///< what one step needs beside the state
  Bytes step_lower_bound;      ///< no plan of this order of ops can need less for a step
  std::string tightest_step;   ///< where the most is alive
  double predicted_seconds{};  ///< of one step, by the rates assumed for the machine
};

/// What one update reports.
struct StepMetrics {
  int64_t step = 0;      ///< updates so far
  double loss = 0;       ///< before the update
  double grad_norm = 0;  ///< global 2-norm, before clipping
};

/// A model under training: compiled, in memory, ready to step.
///
/// Memory: one arena, taken by `compile`; a step of it allocates nothing. Order: not thread-safe; results are the same
/// for any number of threads.
class Training {
 public:
  /// Plans the whole step, proves that it fits, and only then takes memory, draws the parameters and zeroes the
  /// optimizer's state.
  ///
  /// Requires: `model.loss` is a floating scalar. Errors: infeasible where the budget is too small, with the bytes
  /// needed; invalid_argument, first of all the first mistake of the model's builder; unsupported for an op on the way
  /// to the loss that has no gradient; out_of_memory.
  static Result<Training> compile(models::Model model, const TrainingOptions& options);

  Training(Training&&) noexcept;
  Training& operator=(Training&&) noexcept;
  ~Training();

  /// Names the data of an input for this and all later steps: row-major, one microbatch behind the other. They are read
  /// where they lie, so they must stay valid. Errors: invalid_argument for an unknown name, another dtype or size.
  Status set_input(std::string_view name, std::span<const float> data);
  Status set_input(std::string_view name, std::span<const int32_t> data);

  /// Sets an f32 scalar that the model declared, such as 1 / valid targets. Errors: invalid_argument for another name.
  Status set_scalar(std::string_view name, float value);

  /// For this and all later steps; the optimizer's `lr` until then.
  void set_learning_rate(double lr) { learning_rate_ = lr; }

  /// One update. Errors: invalid_argument where an input or scalar was never set, or where loss or gradients are not
  /// finite: then no parameter, moment or counter has changed, and the message names the first tensor that went wrong.
  Result<StepMetrics> step();

  /// The values of a parameter, or of optimizer state ("<parameter>.exp_avg"), which every step overwrites.
  ///
  /// Errors: invalid_argument with the nearest name.
  Result<std::span<const float>> parameter(std::string_view name) const;
  /// d loss / d parameter of the last step, before clipping. Errors: invalid_argument without `keep_gradients`.
  Result<std::span<const float>> gradient(std::string_view name) const;
  /// An output that the model's graph declares, as of the last step; a sum over the microbatches.
  ///
  /// Errors: invalid_argument for an unknown name; unsupported unless it is f32.
  Result<std::span<const float>> output(std::string_view name) const;

  const MemoryPlan& memory_plan() const { return memory_plan_; }
  /// What the model's author should hear of the step, one sentence each: trainable parameters that no gradient reaches,
  /// work that is done twice. Mostly none.
  const std::vector<std::string>& notes() const;
  /// Bytes by category, now and at their peak; the runtime's are read here, so their peak is that of such readings.
  ///
  /// Cost: about 0.1 ms. Order: not beside a step.
  std::vector<memory::LedgerRow> memory() const;
  /// Updates so far.
  int64_t step_count() const { return step_; }

 private:
  Training(std::unique_ptr<engine::Environment> environment, std::unique_ptr<engine::Session> session,
           const TrainingOptions& options);
  Status set_input(std::string_view name, DType dtype, const void* data, size_t count);
  Result<std::span<const float>> find_output(const std::string& name, const std::string& shown) const;
  Status check_complete() const;

  std::unique_ptr<engine::Environment> environment_;  ///< before the session, which uses it
  std::unique_ptr<engine::Session> session_;
  MemoryPlan memory_plan_;
  std::set<std::string, std::less<>> unset_;  ///< inputs and scalars that nobody has set
  int64_t microbatches_;
  int64_t seed_;
  bool keeps_gradients_;
  double learning_rate_;
  int64_t step_ = 0;
};

}  // namespace plimsoll::api
