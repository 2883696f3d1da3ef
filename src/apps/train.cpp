// plimsoll train: runs a run file from plan to sample.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "apps/commands.h"
#include "apps/messages.h"
#include "apps/plan_view.h"
#include "apps/run_log.h"
#include "apps/shared_options.h"
#include "apps/stop_signal.h"
#include "core/printable.h"
#include "core/stopwatch.h"
#include "data/word_share.h"
#include "engine/training/run_folder.h"
#include "engine/training/trainer.h"
#include "formats/file_writer.h"
#include "hardware/process_memory.h"
#include "program/json.h"
#include "report/chrome_trace.h"
#include "report/progress.h"
#include "report/quantities.h"
#include "report/run_metrics.h"
#include "report/run_page.h"
#include "report/trace_recorder.h"

namespace plimsoll::apps {
namespace {

struct Options {
  std::string path;
  std::vector<std::string> overrides;
  std::optional<std::string> ram;
  std::optional<int> threads;
  std::string rates;
  bool resume = false;
  bool json = false;
};

FieldValue number_or_null(bool is_known, double number) { return is_known ? FieldValue(number) : nullptr; }

/// A run from its plan to its sample, told to the log as it goes.
class TrainCommand {
 public:
  /// `planning_s`: what the plan took, rates included.
  TrainCommand(const Options& options, engine::Trainer& trainer, double planning_s)
      : options_(options), trainer_(trainer), planning_s_(planning_s), log_(options.json) {}

  Status run() {
    print_plan();
    const Stopwatch watch;
    PLIMSOLL_RETURN_IF_ERROR(trainer_.start(
        options_.resume, [&](const std::string& what, double share) { return report_preparation(what, share); }));
    for (const std::string& warning : trainer_.resume_warnings()) print_warning(warning, options_.json);
    engine::Session& session = trainer_.session();
    log_.say(fmt::format(
        "ready after {:.1f} s: planning {:.1f} s, data {:.1f} s, first touch of memory {:.1f} s, parameters {:.1f} s",
        planning_s_ + watch.seconds(), planning_s_, trainer_.data_seconds(), session.arena().populate_seconds(),
        session.initialize_seconds()));
    PLIMSOLL_RETURN_IF_ERROR(
        log_.open(in_folder("metrics.jsonl"), {.step = trainer_.step_count(), .samples = trainer_.sample_count()}));
    PLIMSOLL_RETURN_IF_ERROR(write("program.json", program::to_json(trainer_.session().plan().train.program())));
    const Status status = train_and_finish();
    Status told = conclude();
    if (status.ok()) {
      if (told.ok()) log_.say("run folder: " + trainer_.config().run.folder);
      return told;
    }
    Error error = status.error();
    if (!told.ok()) error.message += "; its page is not written: " + told.error().message;
    return error;
  }

 private:
  std::string in_folder(const char* name) const { return trainer_.config().run.folder + "/" + name; }

  Status write(const char* name, std::string_view text) const { return formats::try_write_file(in_folder(name), text); }

  void print_plan() {
    const engine::SessionPlan& plan = trainer_.plan();
    apps::print_plan(make_plan_table(plan.train, plan.need, trainer_.ram()), options_.json);
    apps::print_warnings(plan, trainer_.environment(), options_.json);
  }

  bool report_preparation(const std::string& what, double share) {
    log_.show_preparation(what, share);
    return StopSignal::received() == 0;
  }

  Status train_and_finish() {
    const Stopwatch watch;
    const Status trained = train(watch);
    train_seconds_ = watch.seconds();
    PLIMSOLL_RETURN_IF_ERROR(trained);
    Status status = finish();
    if (status.ok() || status.error().code != ErrorCode::kCancelled) return status;
    return status.error().with_context("training is done and saved in " + trainer_.config().run.folder +
                                       ", and --resume does what is left");
  }

  Status train(const Stopwatch& watch) {
    const auto& config = trainer_.config().train;
    const int64_t first = trainer_.step_count();
    if (trainer_.saved_step() >= 0)
      log_.say(fmt::format("continues after update {}, the newest that is saved whole", first));
    if (first >= trainer_.total_steps())
      log_.say(fmt::format("update {} of {} is done already: nothing is left to train", first, trainer_.total_steps()));
    while (trainer_.step_count() < trainer_.total_steps()) {
      if (StopSignal::received() != 0) return stop();
      const bool traces = trainer_.step_count() == first + 1;
      auto stepped = traces ? traced_step() : trainer_.step();
      if (!stepped.ok()) return save_before(stepped.error());
      const engine::StepReport& report = *stepped;
      tokens_ += report.tokens;
      const int64_t done = trainer_.step_count();
      if (report.is_skipped) {
        log_.say("skipped an update: " + report.reason);
        PLIMSOLL_RETURN_IF_ERROR(report_step(report, watch.seconds(), done - first));
        continue;
      }
      const bool is_last = done == trainer_.total_steps();
      if (done % config.log_every == 0 || is_last || done == first + 1)
        PLIMSOLL_RETURN_IF_ERROR(report_step(report, watch.seconds(), done - first));
      if (config.eval_every > 0 && done % config.eval_every == 0 && !is_last)
        PLIMSOLL_RETURN_IF_ERROR(evaluate(config.eval_batches));
      if (config.checkpoint_every > 0 && done % config.checkpoint_every == 0 && !is_last)
        PLIMSOLL_RETURN_IF_ERROR(trainer_.save());
    }
    return {};
  }

  Result<engine::StepReport> traced_step() {
    const program::Program& program = trainer_.session().plan().train.program();
    recorder_ = std::make_unique<report::TraceRecorder>(std::min(report::count_spans(program), report::kMostSpans));
    recorder_->set_step(trainer_.step_count() + 1);
    auto report = trainer_.step(recorder_.get());
    std::ostringstream trace;
    const report::Roofline roofline = make_roofline(trainer_.session().plan().train, trainer_.session().environment());
    report::write_chrome_trace(trace, program, recorder_->spans(), &roofline);
    PLIMSOLL_RETURN_IF_ERROR(write("trace.json", trace.str()));
    if (recorder_->dropped() > 0)
      log_.say(fmt::format("trace.json holds the first {} of the step's {} instructions", report::kMostSpans,
                           report::kMostSpans + recorder_->dropped()));
    return report;
  }

  Result<report::RunMetrics> read_metrics() const {
    const std::string path = in_folder("metrics.jsonl");
    const auto fault = [&] { return io_error("cannot read " + named(path) + ": " + std::strerror(errno)); };
    std::ifstream lines(path);
    if (!lines) return fault();
    report::RunMetrics metrics = report::read_run_metrics(lines);
    if (lines.bad()) return fault();
    return metrics;
  }

  /// The run as a page to look at: all that its metrics hold, what was recorded before a resume too, and the step.
  Status write_page() {
    const engine::SessionPlan& plan = trainer_.session().plan();
    report::RunPage page;
    page.title = trainer_.config().model.name + " in " + trainer_.config().run.folder;
    page.plan = make_plan_table(plan.train, plan.need, trainer_.ram());
    PLIMSOLL_ASSIGN(page.metrics, read_metrics());
    page.program = &plan.train.program();
    if (recorder_) page.spans = recorder_->spans();
    return write("report.html", report::to_html(page));
  }

  /// `elapsed` and `steps` since the run began or went on; tokens a second since the last report, so that a stall
  /// shows.
  Status report_step(const engine::StepReport& r, double elapsed, int64_t steps) {
    const double rate = static_cast<double>(tokens_ - reported_.tokens) / (elapsed - reported_.seconds);
    reported_ = {tokens_, elapsed};
    const double eta = steps > 0 ? elapsed / static_cast<double>(steps) *
                                       static_cast<double>(trainer_.total_steps() - trainer_.step_count())
                                 : 0;
    // A skipped update is an attempt at the step after those that were applied.
    Fields fields{{"event", "step"},
                  {"step", r.is_skipped ? r.step + 1 : r.step},
                  {"samples", trainer_.sample_count()},
                  {"loss", number_or_null(!r.is_skipped, r.loss)},
                  {"grad_norm", number_or_null(!r.is_skipped && r.grad_norm > 0, r.grad_norm)},
                  {"lr", r.lr},
                  {"tokens_per_s", rate},
                  {"seconds", r.seconds},
                  {"data_seconds", r.data_seconds},
                  {"skipped", r.is_skipped}};
    if (r.is_skipped) fields.push_back({"reason", r.reason});
    trainer_.session().read_runtime();
    const memory::Ledger& ledger = trainer_.session().ledger();
    Fields bytes;
    for (const auto& row : ledger.rows())
      bytes.push_back({fmt::format("{}.{}", to_string(row.space), to_string(row.category)), row.now.value});
    fields.push_back({"memory", bytes});
    PLIMSOLL_RETURN_IF_ERROR(log_.record(fields));
    if (r.is_skipped) return {};
    report::Progress progress{.step = r.step,
                              .steps = trainer_.total_steps(),
                              .loss = r.loss,
                              .lr = r.lr,
                              .tokens_per_s = rate,
                              .eta_s = eta};
    for (const auto& row : ledger.rows()) progress.memory_bytes[static_cast<size_t>(row.category)] += row.now.value;
    log_.say(report::progress_line(progress));
    return {};
  }

  Status evaluate(int64_t most_batches) {
    if (!trainer_.data().validation) return {};
    PLIMSOLL_ASSIGN(const engine::Evaluation evaluation, trainer_.evaluate(most_batches));
    PLIMSOLL_RETURN_IF_ERROR(
        log_.record({{"event", "evaluation"},
                     {"step", trainer_.step_count()},
                     {"loss", evaluation.loss},
                     {"bits_per_byte", number_or_null(evaluation.bits_per_byte > 0, evaluation.bits_per_byte)},
                     {"targets", evaluation.targets}}));
    const std::string bits =
        evaluation.bits_per_byte > 0 ? fmt::format(", {:.4f} bits per byte", evaluation.bits_per_byte) : "";
    log_.say(fmt::format("validation loss {:.4f} nats a token{}", evaluation.loss, bits));
    return {};
  }

  /// An update that failed has changed nothing: what was trained before it is kept.
  Error save_before(Error error) {
    if (trainer_.saved_step() == trainer_.step_count()) return error;
    const Status saved = trainer_.save();
    error.message += saved.ok() ? "; the state before it is saved in " + trainer_.config().run.folder
                                : "; the state before it is not saved: " + saved.error().message;
    return error;
  }

  Status stop() {
    PLIMSOLL_RETURN_IF_ERROR(trainer_.save());
    log_.say("stopped after update " + std::to_string(trainer_.step_count()) + ", saved; continue with --resume");
    return cancelled("stopped by a signal; the state is saved in " + trainer_.config().run.folder);
  }

  Status finish() {
    if (trainer_.saved_step() != trainer_.step_count()) PLIMSOLL_RETURN_IF_ERROR(trainer_.save());
    PLIMSOLL_RETURN_IF_ERROR(evaluate(0));
    PLIMSOLL_RETURN_IF_ERROR(compare_with_byte_model());
    return sample();
  }

  /// What is told however the run ended: its time and memory, and the page.
  Status conclude() {
    PLIMSOLL_ASSIGN(const auto memory, hardware::try_read_process_memory());
    const int64_t planned = trainer_.planned_bytes();
    PLIMSOLL_RETURN_IF_ERROR(log_.record({{"event", "end"},
                                          {"train_seconds", train_seconds_},
                                          {"vmhwm_bytes", memory.peak_resident.value},
                                          {"needed_bytes", planned}}));
    const std::string rate =
        tokens_ > 0 ? ", " + report::to_rate(static_cast<double>(tokens_) / train_seconds_, "tokens") : "";
    log_.say(fmt::format("trained for {:.1f} s{}; peak resident memory {} of {} planned", train_seconds_, rate,
                         to_string(memory.peak_resident), to_string(Bytes{planned})));
    return write_page();
  }

  /// The validation loss beside that of an order-3 byte model: what counting alone reaches on the same text.
  Status compare_with_byte_model() {
    const double bits = trainer_.data().baseline_bits_per_byte;
    if (trainer_.leaves_bytes_out()) log_.say("no byte model to compare with: the budget has no room for its counts");
    if (bits == 0) return {};
    PLIMSOLL_RETURN_IF_ERROR(
        log_.record({{"event", "baseline"}, {"model", "order-3 bytes, Witten-Bell"}, {"bits_per_byte", bits}}));
    log_.say(fmt::format("an order-3 byte model with Witten-Bell backoff has {:.4f} bits per byte there", bits));
    return {};
  }

  Status sample() {
    const auto& config = trainer_.config().train;
    if (config.sample_tokens == 0) return {};
    PLIMSOLL_ASSIGN(const std::string text,
                    trainer_.sample(config.sample_prompt, config.sample_tokens,
                                    {.temperature = 0.5, .top_k = 40, .seed = static_cast<uint64_t>(config.seed)},
                                    [] { return StopSignal::received() == 0; }));
    Fields fields{
        {"event", "sample"}, {"step", trainer_.step_count()}, {"prompt", config.sample_prompt}, {"text", text}};
    log_.say_lines("sample:\n" + config.sample_prompt + text);
    if (!trainer_.data().train_text.empty()) {
      const auto report = [&](int64_t done, int64_t total) {
        return report_preparation("looking for the sample's words",
                                  static_cast<double>(done) / static_cast<double>(total));
      };
      PLIMSOLL_ASSIGN(const data::WordShare share,
                      data::try_count_known_words(trainer_.data().train_text, text, true, report));
      fields.push_back({"known_word_share", share.share()});
      log_.say(fmt::format("{:.1f} % of the sample's {} words occur in the training text", 100 * share.share(),
                           share.words));
    }
    return log_.record(fields);
  }

  const Options& options_;
  engine::Trainer& trainer_;
  double planning_s_;
  RunLog log_;
  int64_t tokens_ = 0;  ///< of this process
  struct Reported {
    int64_t tokens = 0;
    double seconds = 0;
  } reported_;
  double train_seconds_ = 0;
  std::unique_ptr<report::TraceRecorder> recorder_;
};

Status run(const Options& o) {
  StopSignal stop;
  PLIMSOLL_ASSIGN(const std::optional<engine::Rates> rates, try_parse_rates(o.rates));
  std::vector<std::string> overrides = o.overrides;
  PLIMSOLL_RETURN_IF_ERROR(add_shortcuts(overrides, o.ram, o.threads));
  PLIMSOLL_ASSIGN(engine::RunConfig config, engine::try_load_run_config(o.path, overrides));
  PLIMSOLL_RETURN_IF_ERROR(engine::check_run_folder(config.run.folder, o.resume));
  PLIMSOLL_ASSIGN(auto environment, make_environment({.threads = static_cast<int>(config.run.threads),
                                                      .reference = config.run.device == "reference"},
                                                     o.json));
  const Stopwatch watch;
  PLIMSOLL_ASSIGN(auto trainer, engine::Trainer::make(std::move(config), *environment, o.resume));
  set_rates(*environment, rates, trainer->plan().need.total_bytes());
  trainer->predict();
  return TrainCommand(o, *trainer, watch.seconds()).run();
}

}  // namespace

void add_train(Command& root) {
  auto options = std::make_shared<Options>();
  Command command = root.add_command("train", "Train a model as a run file says");
  command.add_option("run_file", options->path, "The run file (TOML); docs/run_file.md has every key").required();
  command.add_option("--set", options->overrides, "Override a key: --set train.batch_size=16 (repeatable)");
  command.add_option("--ram", options->ram,
                     "Budget of the whole process, e.g. 2GiB; refused (exit code 3) where it is too small. Short for "
                     "--set memory.ram=…");
  add_threads_option(command, options->threads);
  add_rates_option(command, options->rates);
  command.add_flag("--resume", options->resume, "Continue from the newest checkpoint of the run folder");
  add_json_option(command, options->json);
  command.footer(
      "Examples:\n  plimsoll train run.toml\n  plimsoll train run.toml --ram 1GiB --set optimizer.lr=3e-4\n"
      "  plimsoll train run.toml --resume\nCtrl-C and SIGTERM end after the current step with a saved state.");
  command.action([options] { return run(*options); });
}

}  // namespace plimsoll::apps
