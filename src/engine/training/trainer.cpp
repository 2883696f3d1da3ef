#include "engine/training/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numbers>

#include "core/shape.h"
#include "core/stopwatch.h"
#include "data/tokens.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/checkpoint_folder.h"
#include "engine/checkpoint/same_run.h"
#include "engine/diagnose.h"
#include "engine/generation/generate.h"
#include "engine/training/lasting_settings.h"
#include "formats/file_reader.h"
#include "formats/file_writer.h"

namespace plimsoll::engine {
namespace {

int64_t bytes_of(const std::vector<plan::Plan::Holder>& holders, Category category) {
  int64_t sum = 0;
  for (const auto& holder : holders) sum += holder.category == category ? holder.size_bytes : 0;
  return sum;
}

}  // namespace

Result<std::unique_ptr<Trainer>> Trainer::make(RunConfig config, Environment& environment, bool goes_on) {
  PLIMSOLL_ASSIGN(RunPlan plan, plan_run(std::move(config), environment, goes_on));
  PLIMSOLL_RETURN_IF_ERROR(check_data_exist(plan.config));
  return std::unique_ptr<Trainer>(new Trainer(std::move(plan), environment));
}

Trainer::Trainer(RunPlan plan, Environment& environment)
    : config_(std::move(plan.config)),
      environment_(environment),
      ram_(plan.ram),
      model_(std::move(plan.model)),
      plan_(std::move(plan.session)) {}

Status Trainer::start(bool resume_run, PreparationProgress progress) {
  const std::string& path = config_.run.folder;
  auto folder = resume_run ? RunFolder::try_continue(path) : RunFolder::try_begin(path);
  if (!folder.ok()) return folder.error();
  folder_ = std::move(folder).value();
  Status status = start_in_folder(resume_run, progress);
  if (!status.ok() && !resume_run) folder_->discard();
  return status;
}

Status Trainer::start_in_folder(bool resume_run, PreparationProgress progress) {
  std::optional<ResumePoint> before;
  if (resume_run) {
    PLIMSOLL_ASSIGN(before, find_resume_point());
    PLIMSOLL_RETURN_IF_ERROR(note_changed_options());
  }
  PLIMSOLL_RETURN_IF_ERROR(formats::try_write_file(folder_->path() + "/run.toml", to_toml(config_)));
  PLIMSOLL_RETURN_IF_ERROR(check_disk(resume_run));
  const Stopwatch watch;
  PLIMSOLL_ASSIGN(data_,
                  try_prepare_text(config_, config_.run.folder, model_, plan().need.comparison_bytes > 0, progress));
  if (before) PLIMSOLL_RETURN_IF_ERROR(check_same_files(before->state.data_checksums, data_.files));
  PLIMSOLL_RETURN_IF_ERROR(check_sample_prompt());
  PLIMSOLL_ASSIGN(batches_, make_run_batches(config_, model_, data_));
  PLIMSOLL_RETURN_IF_ERROR(set_length());
  data_seconds_ = watch.seconds();
  PLIMSOLL_ASSIGN(session_, Session::make(std::move(*plan_), environment_, static_cast<uint64_t>(config_.train.seed)));
  return before ? load(*before) : Status();
}

/// What would else end the run only when all of it is done.
Status Trainer::check_sample_prompt() const {
  if (config_.train.sample_tokens == 0) return {};
  if (!data_.tokenizer) return invalid_argument("generating text needs a tokenizer; give [data] tokenizer");
  std::vector<int32_t> ids;
  data_.tokenizer->encode(config_.train.sample_prompt, ids);
  const auto tokens = std::max<int64_t>(1, std::ssize(ids));  // an empty one is a new line
  if (tokens < model_.context) return {};
  return invalid_argument(config_.at("train", "sample_prompt") + " has " + std::to_string(tokens) +
                          " tokens; expected less than the model's block_size, " + std::to_string(model_.context));
}

/// A disk too small for the checkpoints is found before the first update, not at the first save.
Status Trainer::check_disk(bool resume_run) const {
  const auto& holders = plan_->train.plan.holders;
  const int64_t checkpoint_bytes =
      bytes_of(holders, Category::kParameters) + bytes_of(holders, Category::kOptimizerState);
  // A run that goes on has some of them already; the new one is written before an old one is removed.
  const bool has_one = resume_run || config_.train.checkpoint_every == 0;
  const int64_t checkpoints = has_one ? 1 : config_.train.keep_checkpoints + 1;
  const Status status =
      check_free_space(config_.run.folder,
                       checked_multiply(checkpoint_bytes, checkpoints).value_or(std::numeric_limits<int64_t>::max()));
  if (status.ok()) return {};
  return status.error().with_context("no room for " + std::to_string(checkpoints) + " checkpoint" +
                                     (checkpoints > 1 ? "s" : ""));
}

/// How many updates the run has, and the schedule and buffers for them.
Status Trainer::set_length() {
  const int64_t samples = samples_per_update();
  for (const data::BatchField& field : batches_.train->fields())
    fields_.emplace_back(static_cast<size_t>(field.width * samples));
  const int64_t per_epoch = std::max<int64_t>(1, batches_.train->samples() / samples);
  total_steps_ = config_.train.steps ? *config_.train.steps : *config_.train.epochs * per_epoch;
  const double lr = config_.optimizer.lr;
  PLIMSOLL_ASSIGN(schedule_, optim::Schedule::make({.name = config_.schedule.name,
                                                    .lr = lr,
                                                    .warmup = config_.schedule.warmup_steps,
                                                    .total = total_steps_,
                                                    .min_ratio = lr > 0 ? config_.schedule.min_lr / lr : 0}));
  return {};
}

/// Before anything is made of the data, so that a run file with other settings changes nothing in the folder. Nothing
/// where the run ended before its first checkpoint: it begins again, with the parameters that the seed draws.
Result<std::optional<Trainer::ResumePoint>> Trainer::find_resume_point() {
  if (list_checkpoints(checkpoints_of(config_.run.folder)).empty()) {
    resume_warnings_.emplace_back("the run has no checkpoint, so it begins again");
    return std::optional<ResumePoint>();
  }
  PLIMSOLL_ASSIGN(LatestCheckpoint latest, find_latest_checkpoint(config_.run.folder));
  if (!latest.note.empty()) resume_warnings_.push_back(std::move(latest.note));
  PLIMSOLL_ASSIGN(TrainingState state, read_training_state(latest.folder));
  PLIMSOLL_RETURN_IF_ERROR(check_same_settings(state.settings, lasting_settings(config_)));
  return std::optional(ResumePoint{std::move(latest.folder), std::move(state)});
}

/// Where the run file in the folder says otherwise, it is kept under another name: run.toml is what is in force.
Status Trainer::note_changed_options() {
  const std::string path = folder_->path() + "/run.toml";
  PLIMSOLL_ASSIGN(const bool exists, formats::try_exists(path));
  if (!exists) return {};
  auto then = try_load_run_config(path);
  if (!then.ok()) return then.error().with_context("the run folder's own run file");
  then->run = config_.run;  // where and on how many threads it runs changes no result
  const std::vector<std::string> changes = changed_options(*then, config_);
  if (changes.empty()) return {};
  std::string kept = path;
  for (int i = 1; std::filesystem::exists(kept); ++i) kept = fmt::format("{}/run.{}.toml", folder_->path(), i);
  std::error_code fault;
  std::filesystem::copy_file(path, kept, fault);
  if (fault) return io_error("cannot copy '" + path + "' to '" + kept + "': " + fault.message());
  resume_warnings_.push_back(fmt::format("options changed since the run began: {}; the run file of before is {}",
                                         fmt::join(changes, ", "), kept));
  return {};
}

Status Trainer::load(const ResumePoint& from) {
  const TrainingState& state = from.state;
  const auto parameters = session_->parameters();
  const auto optimizer = session_->optimizer_state();
  PLIMSOLL_RETURN_IF_ERROR(load_checkpoint(from.folder, model_.name, model_.hash, parameters, optimizer));
  if (state.total_samples != batches_.train->samples())
    return invalid_argument("the checkpoint was made with " + std::to_string(state.total_samples) +
                            " samples an epoch, the data have " + std::to_string(batches_.train->samples()) +
                            "; resume with the data and seq_len that the run began with");
  if (const std::string& hash = plan().train.program().compile_hash; state.compile_hash != hash)
    resume_warnings_.push_back("the checkpoint was made by another program (compile hash " + state.compile_hash +
                               ", now " + hash +
                               "): other microbatches, rates of the optimizer, kernels or processor; the run goes on, "
                               "but not bit for bit as it would have without the stop");
  step_ = saved_step_ = state.step;
  sample_ = state.sample;
  tokens_ = state.tokens;
  return {};
}

Status Trainer::save() {
  const auto parameters = session_->parameters();
  const auto optimizer = session_->optimizer_state();
  TrainingState state{.step = step_,
                      .sample = sample_,
                      .total_samples = batches_.train->samples(),
                      .tokens = tokens_,
                      .model = model_.name,
                      .model_hash = model_.hash,
                      .optimizer = config_.optimizer.name,
                      .compile_hash = plan().train.program().compile_hash,
                      .data_checksums = checksums_of(data_.files),
                      .settings = lasting_settings(config_)};
  PLIMSOLL_RETURN_IF_ERROR(save_checkpoint(config_.run.folder, parameters, optimizer, state,
                                           {.keep = static_cast<int>(config_.train.keep_checkpoints)}));
  saved_step_ = step_;
  return {};
}

Status Trainer::fill_update() {
  const int64_t samples = samples_per_update();
  field_spans_.clear();
  for (std::vector<int32_t>& field : fields_) field_spans_.emplace_back(field);
  PLIMSOLL_RETURN_IF_ERROR(batches_.train->try_fill(sample_, samples, field_spans_));
  for (size_t i = 0; i < fields_.size(); ++i) {
    const data::BatchField& field = batches_.train->fields()[i];
    session_->train().set_feed(field.name, fields_[i].data(), field.width * config_.train.batch_size * 4);
  }
  return {};
}

Result<StepReport> Trainer::step(TraceSink* trace) {
  const Stopwatch watch;
  StepReport report{.step = step_};
  const int64_t samples = samples_per_update();
  const int64_t valid = batches_.train->count_valid(sample_, samples);
  PLIMSOLL_RETURN_IF_ERROR(fill_update());
  report.data_seconds = watch.seconds();
  report.tokens = samples * config_.data.seq_len;
  report.lr = schedule_->learning_rate(step_);
  sample_ += samples;
  tokens_ += report.tokens;
  if (valid == 0) {
    // Such an update adds nothing; applying it would still decay weights and moments.
    report.is_skipped = true;
    report.reason = "all targets of the update are ignored";
    report.seconds = watch.seconds();
    return report;
  }
  Runner& runner = session_->train();
  runner.set_scalar("lr", static_cast<float>(report.lr));
  runner.set_scalar("step", step_ + 1);
  runner.set_scalar("seed", config_.train.seed);
  runner.set_scalar("inv_valid_tokens", static_cast<float>(1.0 / static_cast<double>(valid)));
  runner.set_scalar("inv_valid_sentences", static_cast<float>(1.0 / static_cast<double>(samples)));
  const runtime::Outcome outcome = runner.run(trace);
  report.seconds = watch.seconds();
  if (!outcome.is_finite) return handle_non_finite(std::move(report), outcome.failed_check);
  report.loss = static_cast<double>(runner.scalar_output("loss"));
  if (runner.has_output("grad_norm")) report.grad_norm = static_cast<double>(runner.scalar_output("grad_norm"));
  report.step = ++step_;
  skips_ = 0;
  return report;
}

Result<StepReport> Trainer::handle_non_finite(StepReport report, runtime::InstructionId failed) {
  const auto& instruction =
      session_->plan().train.program().segments[static_cast<size_t>(failed.segment)].instructions[static_cast<size_t>(
          failed.index)];
  report.is_skipped = true;
  report.reason = "the " + instruction.label +
                  " is not finite; the first tensor that is not: " + find_first_non_finite(*session_, failed);
  ++skips_;
  const bool skips = config_.train.on_non_finite == "skip";
  if (skips && skips_ <= config_.train.max_skips) return report;
  return Error{ErrorCode::kInvalidArgument,
               "update " + std::to_string(step_ + 1) + " stopped before any weight changed: " + report.reason +
                   (skips_ > 1 ? " (" + std::to_string(skips_) + " updates in a row)" : "") + "; try a lower lr" +
                   (config_.optimizer.clip_norm > 0 ? "" : " or a clip_norm") +
                   (skips ? "" : ", or on_non_finite = \"skip\""),
               {}};
}

Result<Evaluation> Trainer::evaluate(int64_t most_batches) {
  if (!batches_.validation) return invalid_argument("the run has no validation data; give [data] valid");
  Runner& runner = *session_->evaluate();
  const int64_t batch = config_.train.batch_size;
  int64_t batches = (batches_.validation->samples() + batch - 1) / batch;
  if (most_batches > 0) batches = std::min(batches, most_batches);
  std::vector<std::span<int32_t>> spans;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const data::BatchField& field = batches_.validation->fields()[i];
    spans.push_back(std::span(fields_[i]).first(static_cast<size_t>(batch * field.width)));
    runner.set_feed(field.name, fields_[i].data());
  }
  Evaluation out;
  double total = 0;
  for (int64_t i = 0; i < batches; ++i) {
    const int64_t valid = batches_.validation->count_valid(i * batch, batch);
    PLIMSOLL_RETURN_IF_ERROR(batches_.validation->try_fill(i * batch, batch, spans));
    if (valid == 0) continue;
    runner.set_scalar("inv_valid_tokens", static_cast<float>(1.0 / static_cast<double>(valid)));
    runner.set_scalar("inv_valid_sentences", static_cast<float>(1.0 / static_cast<double>(batch)));
    runner.run();
    total += static_cast<double>(runner.scalar_output("loss")) * static_cast<double>(valid);
    out.targets += valid;
  }
  if (out.targets == 0) return out;
  out.loss = total / static_cast<double>(out.targets);
  if (!model_.is_masked && data_.tokenizer) {
    // Samples come in order, so their targets are the text's first ones.
    PLIMSOLL_ASSIGN(const int64_t bytes,
                    data::try_count_bytes(*data_.validation, *data_.tokenizer, 1, 1 + out.targets));
    if (bytes > 0) out.bits_per_byte = total / std::numbers::ln2 / static_cast<double>(bytes);
  }
  return out;
}

Result<std::string> Trainer::sample(const std::string& prompt, int64_t tokens, const SamplingOptions& options,
                                    FunctionRef<bool()> goes_on) {
  if (session_->generate() == nullptr) return unsupported("the model '" + model_.name + "' cannot generate");
  if (!data_.tokenizer) return invalid_argument("generating text needs a tokenizer; give [data] tokenizer");
  PLIMSOLL_ASSIGN(const auto texts,
                  generate(*session_->generate(), *data_.tokenizer, {&prompt, 1}, tokens, model_.context, options,
                           [&](size_t, std::string_view) { return goes_on(); }));
  return texts[0].text;
}

}  // namespace plimsoll::engine
