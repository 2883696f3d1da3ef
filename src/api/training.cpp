#include "api/training.h"

#include "core/seed.h"
#include "core/suggest.h"
#include "engine/diagnose.h"
#include "engine/environment/environment.h"
#include "engine/session.h"
#include "hardware/probe_memory.h"

namespace plimsoll::api {
namespace {

using graph::ValueKind;

/// Scalars that a step writes itself.
const std::set<std::string, std::less<>> kOwnScalars{"lr", "step", "seed", "microbatch"};

MemoryPlan summarize(const engine::SessionPlan& session) {
  const plan::Plan& plan = session.train.plan;
  const auto& segment = plan.program.segments[static_cast<size_t>(plan.tightest.segment)];
  return {.ram = Bytes{session.need.total_bytes()},
          .arena = Bytes{session.need.arena_bytes},
          .state = Bytes{plan.state_bytes},
          .step = Bytes{plan.step_bytes},
          .step_lower_bound = Bytes{plan.step_lower_bound},
          .tightest_step = segment.instructions[static_cast<size_t>(plan.tightest.index)].label,
          .predicted_seconds = plan.predicted_s};
}

Status check_model(const models::Model& model) {
  PLIMSOLL_RETURN_IF_ERROR(model.build_status);
  if (!model.loss.is_valid()) return invalid_argument("the model '" + model.name + "' has no loss to train on");
  for (const graph::Value& value : model.graph.values())
    if (value.kind == ValueKind::kParameter && !model.parameters.contains(value.name))
      return invalid_argument("parameter '" + value.name +
                              "' has no initialiser; make it with weight, or name it in the model's parameters");
  return {};
}

Status check_options(const TrainingOptions& options) {
  if (options.microbatches < 1)
    return invalid_argument("microbatches is " + std::to_string(options.microbatches) + "; expected 1 or more");
  if (options.seed > static_cast<uint64_t>(kLargestSeed))
    return invalid_argument("seed is " + std::to_string(options.seed) + "; expected 0 to " +
                            std::to_string(kLargestSeed));
  if (options.own_data < Bytes{})
    return invalid_argument("own_data is " + std::to_string(options.own_data.value) + " bytes; expected 0 or more");
  return {};
}

/// "there is no input 'z'; the model has x, y; did you mean …", for the leaves of one kind that a caller sets.
Error unknown_leaf(const graph::Graph& graph, ValueKind kind, std::string_view name) {
  std::vector<std::string> names;
  std::string list;
  for (const graph::Value& value : graph.values()) {
    if (value.kind != kind || kOwnScalars.contains(value.name)) continue;
    names.push_back(value.name);
    list += (list.empty() ? "" : ", ") + value.name;
  }
  const std::string what(to_string(kind));
  return invalid_argument("there is no " + what + " '" + std::string(name) + "'; the model has " +
                          (list.empty() ? "none" : list) + suggest(name, names));
}

/// The description of an input or scalar that a caller may set, or nullptr.
const TensorDesc* find_leaf(const graph::Graph& graph, ValueKind kind, std::string_view name) {
  const graph::ValueId id = graph.find_value(name);
  if (!id.is_valid() || graph.value(id).kind != kind || kOwnScalars.contains(name)) return nullptr;
  return &graph.value(id).desc;
}

std::span<const float> as_floats(const std::byte* data, const TensorDesc& desc) {
  return {reinterpret_cast<const float*>(data), static_cast<size_t>(desc.numel())};
}

}  // namespace

const ops::OpTable& standard_ops() {
  static const ops::OpTable table = ops::make_op_table();
  return table;
}

Result<Training> Training::compile(models::Model model, const TrainingOptions& options) {
  PLIMSOLL_RETURN_IF_ERROR(check_model(model));
  PLIMSOLL_RETURN_IF_ERROR(check_options(options));
  PLIMSOLL_ASSIGN(auto environment, engine::Environment::make({.threads = options.threads}));
  PLIMSOLL_ASSIGN(const Bytes ram, hardware::try_find_budget(options.ram));
  engine::SessionSpec spec;
  spec.training = std::move(model);
  spec.optimizer = options.optimizer;
  spec.update.clip_norm = options.clip_norm;
  spec.update.keeps_gradients = options.keep_gradients;
  spec.microbatches = options.microbatches;
  PLIMSOLL_ASSIGN(auto plan, engine::plan_session(std::move(spec), *environment, ram, options.own_data.value));
  PLIMSOLL_ASSIGN(auto session, engine::Session::make(std::move(plan), *environment, options.seed));
  return Training(std::move(environment), std::move(session), options);
}

Training::Training(std::unique_ptr<engine::Environment> environment, std::unique_ptr<engine::Session> session,
                   const TrainingOptions& options)
    : environment_(std::move(environment)),
      session_(std::move(session)),
      memory_plan_(summarize(session_->plan())),
      microbatches_(options.microbatches),
      seed_(static_cast<int64_t>(options.seed)),
      keeps_gradients_(options.keep_gradients),
      learning_rate_(options.optimizer.lr) {
  const engine::Lowered& lowered = session_->plan().train.lowered;
  for (const graph::Value& value : session_->plan().training_graph.values())
    if (value.kind == ValueKind::kInput && lowered.feeds.contains(value.name)) unset_.insert(value.name);
  for (const std::string& name : lowered.scalars)
    if (!kOwnScalars.contains(name)) unset_.insert(name);
}

Training::Training(Training&&) noexcept = default;
Training& Training::operator=(Training&& other) noexcept {
  // The session goes first: it uses the environment.
  session_ = std::move(other.session_);
  environment_ = std::move(other.environment_);
  memory_plan_ = std::move(other.memory_plan_);
  unset_ = std::move(other.unset_);
  microbatches_ = other.microbatches_;
  seed_ = other.seed_;
  keeps_gradients_ = other.keeps_gradients_;
  learning_rate_ = other.learning_rate_;
  step_ = other.step_;
  return *this;
}
Training::~Training() = default;

Status Training::set_input(std::string_view name, std::span<const float> data) {
  return set_input(name, DType::kF32, data.data(), data.size());
}

Status Training::set_input(std::string_view name, std::span<const int32_t> data) {
  return set_input(name, DType::kI32, data.data(), data.size());
}

Status Training::set_input(std::string_view name, DType dtype, const void* data, size_t count) {
  const graph::Graph& graph = session_->plan().training_graph;
  const TensorDesc* desc = find_leaf(graph, ValueKind::kInput, name);
  if (desc == nullptr) return unknown_leaf(graph, ValueKind::kInput, name);
  const int64_t expected = desc->numel() * microbatches_;
  if (desc->dtype != dtype || static_cast<int64_t>(count) != expected)
    return invalid_argument("input '" + std::string(name) + "' is given " + std::to_string(count) + " elements of " +
                            std::string(to_string(dtype)) + "; expected " + std::to_string(expected) + ": " +
                            to_string(*desc) + " times " + std::to_string(microbatches_) + " microbatches");
  session_->train().set_feed(name, data, desc->size_bytes());
  if (const auto it = unset_.find(name); it != unset_.end()) unset_.erase(it);
  return {};
}

Status Training::set_scalar(std::string_view name, float value) {
  const graph::Graph& graph = session_->plan().training_graph;
  const TensorDesc* desc = find_leaf(graph, ValueKind::kScalar, name);
  if (desc == nullptr) return unknown_leaf(graph, ValueKind::kScalar, name);
  if (desc->dtype != DType::kF32)
    return invalid_argument("scalar '" + std::string(name) + "' is " + to_string(*desc) + "; only f32 can be set");
  session_->train().set_scalar(name, value);
  if (const auto it = unset_.find(name); it != unset_.end()) unset_.erase(it);
  return {};
}

Status Training::check_complete() const {
  if (unset_.empty()) return {};
  std::string list;
  for (const std::string& name : unset_) list += (list.empty() ? "" : ", ") + name;
  return invalid_argument("a step needs values that were never set: " + list + "; call set_input or set_scalar");
}

Result<StepMetrics> Training::step() {
  PLIMSOLL_RETURN_IF_ERROR(check_complete());
  engine::Runner& runner = session_->train();
  runner.set_scalar("lr", static_cast<float>(learning_rate_));
  runner.set_scalar("step", step_ + 1);
  runner.set_scalar("seed", seed_);
  const runtime::Outcome outcome = runner.run();
  if (!outcome.is_finite)
    return invalid_argument(
        "step " + std::to_string(step_ + 1) + " stopped before any parameter changed; the first " +
        "tensor that is not finite: " + engine::find_first_non_finite(*session_, outcome.failed_check));
  return StepMetrics{.step = ++step_,
                     .loss = static_cast<double>(runner.scalar_output("loss")),
                     .grad_norm = static_cast<double>(runner.scalar_output("grad_norm"))};
}

Result<std::span<const float>> Training::parameter(std::string_view name) const {
  PLIMSOLL_ASSIGN(const engine::TensorView view, session_->find_state(name));
  return as_floats(view.data, view.desc);
}

Result<std::span<const float>> Training::gradient(std::string_view name) const {
  if (!keeps_gradients_) return invalid_argument("gradients are not kept; compile with keep_gradients = true");
  return find_output(optim::gradient_output(name), "gradient of '" + std::string(name) + "'");
}

Result<std::span<const float>> Training::output(std::string_view name) const {
  return find_output(std::string(name), "output '" + std::string(name) + "'");
}

Result<std::span<const float>> Training::find_output(const std::string& name, const std::string& shown) const {
  const auto& outputs = session_->plan().train.lowered.outputs;
  const auto it = outputs.find(name);
  if (it == outputs.end()) {
    std::vector<std::string> names;
    names.reserve(outputs.size());
    for (const auto& [known, desc] : outputs) names.push_back(known);
    return invalid_argument("there is no " + shown + suggest(name, names));
  }
  const TensorDesc& desc = it->second;
  if (desc.dtype != DType::kF32) return unsupported("the " + shown + " is " + to_string(desc) + "; expected f32");
  return as_floats(session_->train().output(name), desc);
}

const std::vector<std::string>& Training::notes() const { return session_->plan().notes; }

std::vector<memory::LedgerRow> Training::memory() const {
  session_->read_runtime();
  return session_->ledger().rows();
}

}  // namespace plimsoll::api
