#include "optim/optimizer.h"

#include <cmath>

#include "core/suggest.h"

namespace plimsoll::optim {
namespace {

using graph::ValueId;

/// The factor that every update applies to its gradient, from the global norm; a constant 1 without clipping or check.
ValueId add_gradient_scale(ops::Builder& builder, const transform::Gradients& gradients, const UpdateOptions& options) {
  if (!options.checks_gradients && std::isinf(options.clip_norm))
    return builder.constant("grad_scale", {DType::kF32, {}, {}}, {1.0});
  std::vector<ValueId> sums;
  for (const auto& entry : gradients.entries)
    sums.push_back(builder.add("sum_of_squares", {entry.gradient}, {},
                               {.name = builder.target().value(entry.value).name + ".grad.sum_of_squares"}));
  const auto norm =
      builder.add_all("global_norm", std::move(sums), {{"max_norm", options.clip_norm}}, 2, {.name = "grad_norm"});
  if (!builder.status().ok()) return {};
  builder.target().add_output("grad_norm", norm[0]);
  if (options.checks_gradients) builder.target().add_check(norm[0], "gradient norm");
  return norm[1];
}

struct Rule {
  std::string op;
  std::vector<std::string> moments;  ///< names of state, in the op's order
  Attributes attributes;
  bool counts_steps = false;
};

Result<Rule> try_rule(const OptimizerConfig& c) {
  if (c.name == "sgd") {
    if (c.nesterov && (c.momentum <= 0 || c.dampening != 0))
      return invalid_argument("[sgd] nesterov needs momentum > 0 and dampening = 0");
    return Rule{.op = "sgd",
                .moments = c.momentum > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{},
                .attributes = {{"momentum", c.momentum}, {"dampening", c.dampening}, {"nesterov", c.nesterov}}};
  }
  if (c.name == "adam" || c.name == "adamw") {
    Rule rule{.op = c.name,
              .moments = {"exp_avg", "exp_avg_sq"},
              .attributes = {{"beta1", c.beta1}, {"beta2", c.beta2}, {"eps", c.eps}},
              .counts_steps = true};
    if (c.amsgrad) rule.moments.emplace_back("max_exp_avg_sq");
    return rule;
  }
  const std::vector<std::string> names{"sgd", "adam", "adamw"};
  return invalid_argument("there is no optimizer '" + c.name + "'; known are sgd, adam, adamw" +
                          suggest(c.name, names));
}

/// Appends one parameter's update and returns its new values by way of the graph's updates.
void add_update(ops::Builder& builder, const Rule& rule, ValueId parameter, ValueId gradient, ValueId scale,
                double weight_decay) {
  const graph::Value value = builder.target().value(parameter);
  std::vector<ValueId> moments;
  for (const std::string& moment : rule.moments)
    moments.push_back(builder.state(value.name + "." + moment, value.desc));
  std::vector<ValueId> inputs{parameter, gradient};
  const ValueId lr = builder.scalar("lr", DType::kF32);
  if (rule.counts_steps) {
    inputs.insert(inputs.end(), moments.begin(), moments.begin() + 2);
    inputs.insert(inputs.end(), {lr, builder.scalar("step", DType::kI64), scale});
    inputs.insert(inputs.end(), moments.begin() + 2, moments.end());
  } else {
    inputs.insert(inputs.end(), {lr, scale});
    inputs.insert(inputs.end(), moments.begin(), moments.end());
  }
  Attributes attributes = rule.attributes;
  attributes.set("weight_decay", weight_decay);
  const auto next =
      builder.add_all(rule.op, std::move(inputs), attributes, 1 + moments.size(), {.name = value.name + ".update"});
  if (!builder.status().ok()) return;
  builder.target().add_update(parameter, next[0]);
  for (size_t i = 0; i < moments.size(); ++i) builder.target().add_update(moments[i], next[i + 1]);
}

}  // namespace

std::string gradient_output(std::string_view parameter) { return "gradient." + std::string(parameter); }

Status add_updates(ops::Builder& builder, const transform::Gradients& gradients, const OptimizerConfig& config,
                   const UpdateOptions& options) {
  PLIMSOLL_ASSIGN(const Rule rule, try_rule(config));
  builder.set_phase(graph::Phase::kUpdate);
  const ValueId scale = add_gradient_scale(builder, gradients, options);
  for (const auto& entry : gradients.entries) {
    if (!builder.status().ok()) break;
    const bool decays = options.decays(builder.target().value(entry.value));
    add_update(builder, rule, entry.value, entry.gradient, scale, decays ? config.weight_decay : 0.0);
    if (options.keeps_gradients)
      builder.target().add_output(gradient_output(builder.target().value(entry.value).name), entry.gradient);
  }
  builder.set_phase(graph::Phase::kForward);
  return builder.status();
}

}  // namespace plimsoll::optim
