#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/trace_sink.h"
#include "engine/checkpoint/training_state.h"
#include "engine/generation/sampler.h"
#include "engine/session.h"
#include "engine/training/run_batches.h"
#include "engine/training/run_folder.h"
#include "engine/training/run_plan.h"
#include "engine/training/text_data.h"
#include "optim/schedule.h"

namespace plimsoll::engine {

/// What one update did.
struct StepReport {
  int64_t step = 0;      ///< updates applied so far, this one included
  double loss = 0;       ///< mean over the valid targets of the update, in nats
  double grad_norm = 0;  ///< 0 where it is not computed
  double lr = 0;
  int64_t tokens = 0;  ///< of this update, padding included
  double seconds = 0;
  double data_seconds = 0;  ///< of these, spent waiting for data
  bool is_skipped = false;  ///< nothing was applied: see `reason`
  std::string reason;
};

struct Evaluation {
  double loss = 0;           ///< nats a valid target
  double bits_per_byte = 0;  ///< of the text behind those targets; 0 where it is not known
  int64_t targets = 0;
};

/// A training run: plans, prepares the data, steps, evaluates, saves, samples. The application decides when.
class Trainer {
 public:
  /// Resolves the run file and plans, for a run that begins or one that goes on. Reads no data and takes no memory for
  /// it.
  ///
  /// Errors: infeasible with what would help; invalid_argument.
  static Result<std::unique_ptr<Trainer>> make(RunConfig config, Environment& environment, bool goes_on = false);

  /// The plan; moves into the session when the run starts.
  const SessionPlan& plan() const { return session_ ? session_->plan() : *plan_; }
  /// Has the plan predict its time with the environment's rates of now. Requires: `start` was not called.
  void predict() { plan_->train.predict(environment_.catalogue()); }
  Environment& environment() { return environment_; }
  const RunConfig& config() const { return config_; }
  /// The budget of the whole process: the run file's, or what the machine can give.
  Bytes ram() const { return ram_; }

  /// Makes the run folder, prepares the data, takes the memory; with `resume`, continues from the newest checkpoint.
  ///
  /// Errors: those of data and checkpoints; invalid_argument where the folder exists and this is no resume.
  Status start(bool resume, PreparationProgress progress);
  /// How much of it the preparation of the data took.
  double data_seconds() const { return data_seconds_; }

  /// What the user of a resumed run should hear: that it begins again for want of a checkpoint, that a damaged one was
  /// passed over, that the program is another one than the checkpoint's, so that bits may differ from those of a run
  /// that was never stopped. Mostly none.
  const std::vector<std::string>& resume_warnings() const { return resume_warnings_; }
  /// The step of the newest checkpoint that this run loaded or saved; -1 before there is one.
  int64_t saved_step() const { return saved_step_; }
  /// The most that the process holds at any time.
  int64_t planned_bytes() const { return plan().need.planned_bytes(); }
  /// Whether a text's byte model is left out because the budget has no room for it.
  bool leaves_bytes_out() const {
    return data_.validation && !data_.train_text.empty() && plan().need.comparison_bytes == 0;
  }
  int64_t total_steps() const { return total_steps_; }
  int64_t step_count() const { return step_; }
  /// Samples drawn so far, those of skipped updates too: what tells one attempt of an update from the next.
  int64_t sample_count() const { return sample_; }
  int64_t samples_per_update() const { return config_.train.batch_size * config_.train.accumulate; }

  /// One update. Errors: a number that is not finite stops the run (or skips the
  /// update, by the run file's policy) with the first tensor that went wrong.
  Result<StepReport> step(TraceSink* trace = nullptr);

  /// Loss on the first `most_batches` of the validation text; 0: on all of it. Errors: invalid_argument where there is
  /// none.
  Result<Evaluation> evaluate(int64_t most_batches);

  /// Saves to the run folder. Errors: io, with what is needed and free.
  Status save();

  /// Text that the model continues `prompt` with; `goes_on` is asked at each token. Errors: unsupported where the model
  /// cannot generate; cancelled.
  Result<std::string> sample(const std::string& prompt, int64_t tokens, const SamplingOptions& options,
                             FunctionRef<bool()> goes_on);

  Session& session() { return *session_; }
  const TextData& data() const { return data_; }

 private:
  /// Where a resumed run goes on.
  struct ResumePoint {
    std::string folder;
    TrainingState state;
  };

  Trainer(RunPlan plan, Environment& environment);
  Status start_in_folder(bool resume, PreparationProgress progress);
  Status check_disk(bool resume) const;
  Status check_sample_prompt() const;
  Status set_length();
  Result<std::optional<ResumePoint>> find_resume_point();
  Status note_changed_options();
  Status load(const ResumePoint& from);
  Status fill_update();
  Result<StepReport> handle_non_finite(StepReport report, runtime::InstructionId failed);

  RunConfig config_;
  Environment& environment_;
  Bytes ram_;
  ModelChoice model_;
  std::optional<SessionPlan> plan_;
  std::optional<optim::Schedule> schedule_;
  std::unique_ptr<Session> session_;
  std::optional<RunFolder> folder_;
  TextData data_;
  double data_seconds_ = 0;
  RunBatches batches_;
  std::vector<std::vector<int32_t>> fields_;  ///< of one update, by field
  std::vector<std::span<int32_t>> field_spans_;
  int64_t saved_step_ = -1;
  int64_t step_ = 0;
  int64_t sample_ = 0;
  int64_t tokens_ = 0;
  int64_t total_steps_ = 0;
  int64_t skips_ = 0;  ///< in a row
  std::vector<std::string> resume_warnings_;
};

}  // namespace plimsoll::engine
