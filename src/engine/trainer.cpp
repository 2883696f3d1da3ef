#include "engine/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

#include "core/shape.h"
#include "core/stopwatch.h"
#include "engine/checkpoint.h"
#include "engine/checkpoint_folder.h"
#include "engine/diagnose.h"
#include "engine/generate.h"
#include "engine/remedies.h"
#include "formats/file_writer.h"
#include "hardware/probe_memory.h"

namespace plimsoll::engine {
namespace {

namespace fs = std::filesystem;

optim::OptimizerConfig to_optimizer(const RunConfig::Optimizer& o) {
  return {.name = o.name,
          .lr = o.lr,
          .beta1 = o.betas[0],
          .beta2 = o.betas[1],
          .eps = o.eps,
          .weight_decay = o.weight_decay,
          .momentum = o.momentum,
          .dampening = o.dampening,
          .nesterov = o.nesterov,
          .amsgrad = o.amsgrad};
}

/// The size that a run file asks for.
JobSize size_of(const RunConfig& config) {
  const bool trains_tokenizer = config.data.kind == "text" && config.data.tokenizer == "sentencepiece";
  return {.batch = config.train.batch_size,
          .microbatches = config.train.accumulate,
          .seq = config.data.seq_len,
          .optimizer = config.optimizer.name,
          .tokenizer = trains_tokenizer ? "sentencepiece" : ""};
}

/// The run file as it is with another size.
RunConfig resized(RunConfig config, const JobSize& size) {
  config.train.batch_size = size.batch;
  config.train.accumulate = size.microbatches;
  config.data.seq_len = size.seq;
  config.optimizer.name = size.optimizer;
  if (size.tokenizer.empty() || size.tokenizer == config.data.tokenizer) return config;
  config.data.tokenizer = size.tokenizer;
  if (!config.origins.contains("model.vocab_size")) config.model.vocab_size = 0;  // that of the tokenizer again
  return config;
}

/// What to add to the command line, or "" where the run file has settings that go with the old value alone.
std::string option_for(const RunConfig& config, const JobSize& size) {
  if (!check_uses(resized(config, size)).ok()) return "";
  const JobSize now = size_of(config);
  if (size.batch != now.batch)
    return "--set train.batch_size=" + std::to_string(size.batch) +
           " --set train.accumulate=" + std::to_string(size.microbatches) + " (the same update in smaller parts)";
  if (size.seq != now.seq) return "--set data.seq_len=" + std::to_string(size.seq);
  if (size.optimizer != now.optimizer) return "--set optimizer.name=" + size.optimizer + " (no moments)";
  return "--set data.tokenizer=" + size.tokenizer + " (none to train)";
}

/// What a resumed run must share with the run that it continues: the tokens and their order, what dropout draws, and
/// what the optimizer's state means. Rates, schedules and the number of updates may change.
std::map<std::string, std::string> lasting_settings(const RunConfig& c) {
  return {{"data.kind", c.data.kind},
          {"data.train", fmt::format("{}", fmt::join(c.data.train, " "))},
          {"data.valid", fmt::format("{}", fmt::join(c.data.valid, " "))},
          {"data.validation_fraction", fmt::format("{}", c.data.validation_fraction)},
          {"data.separator", c.data.separator},
          {"data.tokenizer", c.data.tokenizer},
          {"data.seq_len", std::to_string(c.data.seq_len)},
          {"model.dropout", fmt::format("{}", c.model.dropout)},
          {"optimizer.name", c.optimizer.name},
          {"optimizer.amsgrad", c.optimizer.amsgrad ? "true" : "false"},
          {"optimizer.momentum", c.optimizer.momentum > 0 ? "used" : "0"},
          {"train.batch_size * train.accumulate", std::to_string(c.train.batch_size * c.train.accumulate)},
          {"train.seed", std::to_string(c.train.seed)}};
}

Status check_same_settings(const std::map<std::string, std::string>& then,
                           const std::map<std::string, std::string>& now) {
  for (const auto& [key, value] : now)
    if (const auto it = then.find(key); it != then.end() && it->second != value)
      return invalid_argument("the run began with " + key + " = '" + it->second + "', it is now '" + value +
                              "'; resume with what it began with, or begin another run");
  return {};
}

int64_t bytes_of(const std::vector<plan::Plan::Holder>& holders, Category category) {
  int64_t sum = 0;
  for (const auto& holder : holders) sum += holder.category == category ? holder.size_bytes : 0;
  return sum;
}

/// Empties a folder that a run could not begin in, and removes it where the run had made it.
void remove_what_was_made(const std::string& folder, bool is_ours) {
  std::error_code ignored;
  if (is_ours) {
    fs::remove_all(folder, ignored);
    return;
  }
  for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored))
    fs::remove_all(at->path(), ignored);
}

}  // namespace

Result<std::unique_ptr<Trainer>> Trainer::make(RunConfig config, Environment& environment) {
  std::unique_ptr<Trainer> trainer(new Trainer(std::move(config), environment));
  PLIMSOLL_RETURN_IF_ERROR(trainer->make_plan());
  return trainer;
}

Status Trainer::make_plan() {
  PLIMSOLL_ASSIGN(const DataNeeds needs, try_find_data_needs(config_));
  PLIMSOLL_ASSIGN(model_, choose_model(config_, needs.tokenizer_vocab, environment_.ops()));
  config_.model.vocab_size = model_.vocab_size;  // so that the run file kept with the run names the model it trained
  if (config_.train.sample_tokens > 0 && !model_.decoder)
    return unsupported(config_.at("train", "sample_tokens") + " has no use: the model '" + model_.name +
                       "' cannot generate");
  if (config_.data.seq_len == 0) config_.data.seq_len = model_.context;
  if (config_.data.seq_len > model_.context)
    return invalid_argument(config_.at("data", "seq_len") + " is " + std::to_string(config_.data.seq_len) +
                            "; the model's block_size is " + std::to_string(model_.context));
  ram_ = config_.memory.ram;
  if (!ram_) {
    PLIMSOLL_ASSIGN(ram_, hardware::available_ram());
  }
  auto plan = try_plan(config_, ram_);
  if (plan.ok()) {
    plan_ = std::move(plan).value();
    // The byte model is counted where there is room for it; no budget is refused for its sake.
    const int64_t with_bytes = plan_->need.runtime_bytes + needs.baseline_bytes;
    if (needs.baseline_bytes > 0 && with_bytes <= ram_->value) counting_bytes_ = with_bytes;
    return {};
  }
  const auto needed_bytes = [this](const JobSize& size) -> Result<int64_t> {
    PLIMSOLL_ASSIGN(const SessionPlan other, try_plan(resized(config_, size), std::nullopt));
    return other.need.total_bytes();
  };
  return with_remedies(plan.error(), {.size = size_of(config_),
                                      .needed_bytes = needed_bytes,
                                      .option = [this](const JobSize& size) { return option_for(config_, size); }});
}

Result<SessionPlan> Trainer::try_plan(const RunConfig& config, std::optional<Bytes> ram) const {
  PLIMSOLL_ASSIGN(const DataNeeds needs, try_find_data_needs(config));
  PLIMSOLL_ASSIGN(const ModelChoice model, choose_model(config, needs.tokenizer_vocab, environment_.ops()));
  SessionSpec spec{.optimizer = to_optimizer(config.optimizer), .microbatches = config.train.accumulate};
  if (config.optimizer.clip_norm > 0) spec.update.clip_norm = config.optimizer.clip_norm;
  const int64_t batch = config.train.batch_size, seq = config.data.seq_len;
  PLIMSOLL_ASSIGN(spec.training, model.training(batch, seq));
  PLIMSOLL_ASSIGN(spec.evaluation, model.evaluation(batch, seq));
  if (model.decoder) {
    PLIMSOLL_ASSIGN(spec.decoder, model.decoder(1, 1, model.context));
  }
  const int64_t batch_bytes = batch * config.train.accumulate * seq * 4 * (model.is_masked ? 4 : 2);
  return plan_session(std::move(spec), environment_, ram, needs.loader_bytes + batch_bytes, needs.preparation_bytes);
}

Status Trainer::start(bool resume_run, PreparationProgress progress) {
  std::error_code ignored;
  const bool is_ours = !fs::exists(config_.run.folder, ignored);
  PLIMSOLL_RETURN_IF_ERROR(make_folder(resume_run));
  Status status = start_in_folder(resume_run, progress);
  if (!status.ok() && !resume_run) remove_what_was_made(config_.run.folder, is_ours);
  return status;
}

Status Trainer::start_in_folder(bool resume_run, PreparationProgress progress) {
  PLIMSOLL_RETURN_IF_ERROR(check_disk(resume_run));
  PLIMSOLL_ASSIGN(data_, try_prepare_text(config_, config_.run.folder, model_, counting_bytes_ > 0, progress));
  PLIMSOLL_RETURN_IF_ERROR(check_sample_prompt());
  PLIMSOLL_RETURN_IF_ERROR(make_batches());
  PLIMSOLL_ASSIGN(session_, Session::make(std::move(*plan_), environment_, static_cast<uint64_t>(config_.train.seed)));
  return resume_run ? resume() : Status();
}

/// What would else end the run only when all of it is done.
Status Trainer::check_sample_prompt() const {
  if (config_.train.sample_tokens == 0) return {};
  if (!data_.tokenizer) return invalid_argument("generating text needs a tokenizer; give [data] tokenizer");
  std::vector<int32_t> ids;
  data_.tokenizer->encode(config_.train.sample_prompt, ids);
  if (std::ssize(ids) < model_.context) return {};
  return invalid_argument(config_.at("train", "sample_prompt") + " has " + std::to_string(ids.size()) +
                          " tokens; expected less than the model's block_size, " + std::to_string(model_.context));
}

Status Trainer::make_folder(bool resume_run) {
  std::error_code fault;
  const std::string& folder = config_.run.folder;
  const bool exists = fs::exists(folder, fault);
  if (resume_run && !exists) return io_error("there is no run folder '" + folder + "' to resume");
  if (!resume_run && exists && !fs::is_empty(folder, fault))
    return invalid_argument("the run folder '" + folder +
                            "' exists; give --resume to continue it, or another folder with --set run.folder=…");
  fs::create_directories(folder, fault);
  if (fault) return io_error("cannot make the run folder '" + folder + "': " + fault.message());
  PLIMSOLL_ASSIGN(lock_, formats::FolderLock::try_take(folder));
  if (resume_run) return {};
  PLIMSOLL_ASSIGN(auto writer, formats::FileWriter::try_create(folder + "/run.toml"));
  PLIMSOLL_RETURN_IF_ERROR(writer.try_append(to_toml(config_)));
  return writer.try_finish();
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

Status Trainer::make_batches() {
  const int64_t seq = config_.data.seq_len, samples = samples_per_update();
  const auto seed = static_cast<uint64_t>(config_.train.seed);
  if (model_.is_masked) {
    const auto special = static_cast<int32_t>(model_.text_vocab());
    const auto masked = [&](bool is_evaluation) {
      return data::MaskedOptions{.batch = is_evaluation ? 1 : samples,
                                 .seq = seq,
                                 .seed = seed,
                                 .vocab_size = special,
                                 .cls_id = special,
                                 .sep_id = special + 1,
                                 .mask_id = special + 2,
                                 .is_evaluation = is_evaluation};
    };
    PLIMSOLL_ASSIGN(train_, data::try_make_masked_batches(data_.train, masked(false)));
    if (data_.validation) {
      PLIMSOLL_ASSIGN(validation_, data::try_make_masked_batches(data_.validation, masked(true)));
    }
  } else {
    PLIMSOLL_ASSIGN(train_, data::try_make_causal_batches(data_.train, {.batch = samples, .seq = seq, .seed = seed}));
    if (data_.validation) {
      PLIMSOLL_ASSIGN(validation_, data::try_make_evaluation_batches(data_.validation, seq));
    }
  }
  for (const data::BatchField& field : train_->fields())
    fields_.emplace_back(static_cast<size_t>(field.width * samples));
  const int64_t per_epoch = std::max<int64_t>(1, train_->samples() / samples);
  total_steps_ = config_.train.steps ? *config_.train.steps : *config_.train.epochs * per_epoch;
  PLIMSOLL_ASSIGN(schedule_,
                  optim::Schedule::make(
                      {.name = config_.schedule.name,
                       .lr = config_.optimizer.lr,
                       .warmup = config_.schedule.warmup_steps,
                       .total = total_steps_,
                       .min_ratio = config_.optimizer.lr > 0 ? config_.schedule.min_lr / config_.optimizer.lr : 0}));
  return {};
}

Status Trainer::resume() {
  // A run that ended before its first checkpoint begins again, with the parameters that the seed draws.
  if (list_checkpoints(checkpoints_of(config_.run.folder)).empty()) return {};
  PLIMSOLL_ASSIGN(const std::string folder, find_latest_checkpoint(config_.run.folder));
  const auto parameters = session_->parameters();
  const auto optimizer = session_->optimizer_state();
  PLIMSOLL_ASSIGN(const TrainingState state, load_checkpoint(folder, model_.name, model_.hash, parameters, optimizer));
  if (state.total_samples != train_->samples())
    return invalid_argument("the checkpoint was made with " + std::to_string(state.total_samples) +
                            " samples an epoch, the data have " + std::to_string(train_->samples()) +
                            "; resume with the data and seq_len that the run began with");
  PLIMSOLL_RETURN_IF_ERROR(check_same_settings(state.settings, lasting_settings(config_)));
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
                      .total_samples = train_->samples(),
                      .tokens = tokens_,
                      .schedule_step = step_,
                      .microbatches = config_.train.accumulate,
                      .seed = static_cast<uint64_t>(config_.train.seed),
                      .model = model_.name,
                      .model_hash = model_.hash,
                      .optimizer = config_.optimizer.name,
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
  PLIMSOLL_RETURN_IF_ERROR(train_->try_fill(sample_, samples, field_spans_));
  for (size_t i = 0; i < fields_.size(); ++i) {
    const data::BatchField& field = train_->fields()[i];
    session_->train().set_feed(field.name, fields_[i].data(), field.width * config_.train.batch_size * 4);
  }
  return {};
}

Result<StepReport> Trainer::step(TraceSink* trace) {
  const Stopwatch watch;
  StepReport report{.step = step_};
  const int64_t samples = samples_per_update();
  const int64_t valid = train_->count_valid(sample_, samples);
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
  if (!validation_) return invalid_argument("the run has no validation data; give [data] valid");
  Runner& runner = *session_->evaluate();
  const int64_t batch = config_.train.batch_size;
  int64_t batches = (validation_->samples() + batch - 1) / batch;
  const bool is_whole = most_batches == 0 || most_batches >= batches;
  if (!is_whole) batches = most_batches;
  std::vector<std::span<int32_t>> spans;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const data::BatchField& field = validation_->fields()[i];
    spans.push_back(std::span(fields_[i]).first(static_cast<size_t>(batch * field.width)));
    runner.set_feed(field.name, fields_[i].data());
  }
  Evaluation out;
  double total = 0;
  for (int64_t i = 0; i < batches; ++i) {
    const int64_t valid = validation_->count_valid(i * batch, batch);
    PLIMSOLL_RETURN_IF_ERROR(validation_->try_fill(i * batch, batch, spans));
    if (valid == 0) continue;
    runner.set_scalar("inv_valid_tokens", static_cast<float>(1.0 / static_cast<double>(valid)));
    runner.set_scalar("inv_valid_sentences", static_cast<float>(1.0 / static_cast<double>(batch)));
    runner.run();
    total += static_cast<double>(runner.scalar_output("loss")) * static_cast<double>(valid);
    out.targets += valid;
  }
  if (out.targets == 0) return out;
  out.loss = total / static_cast<double>(out.targets);
  if (is_whole && !model_.is_masked && data_.validation_bytes > 0)
    out.bits_per_byte = total / std::numbers::ln2 / static_cast<double>(data_.validation_bytes);
  return out;
}

Result<std::string> Trainer::sample(const std::string& prompt, int64_t tokens, const SamplingOptions& options) {
  if (session_->generate() == nullptr) return unsupported("the model '" + model_.name + "' cannot generate");
  if (!data_.tokenizer) return invalid_argument("generating text needs a tokenizer; give [data] tokenizer");
  PLIMSOLL_ASSIGN(const Generation generation,
                  generate(*session_->generate(), *data_.tokenizer, prompt, tokens, model_.context, options));
  return generation.text;
}

}  // namespace plimsoll::engine
