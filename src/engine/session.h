#pragma once

#include <memory>

#include "engine/checkpoint/tensor_view.h"
#include "engine/runner.h"
#include "engine/session_plan.h"
#include "memory/arena.h"
#include "memory/ledger.h"

namespace plimsoll::engine {

/// A plan in memory: one arena, filled with parameters, and the programs bound to it.
class Session {
 public:
  /// Takes the arena, draws the parameters from `seed` and zeroes the optimizer's state. Errors: out_of_memory.
  ///
  /// Requires: `environment` outlives the session.
  static Result<std::unique_ptr<Session>> make(SessionPlan plan, Environment& environment, uint64_t seed);

  Runner& train() { return *train_; }
  /// nullptr where the plan has no such program. Running one program overwrites the outputs of the others.
  Runner* evaluate() { return evaluate_.get(); }
  Runner* generate() { return generate_.get(); }

  /// The weights, in the order of the graph. Views into the arena: valid as long as the session.
  std::vector<TensorView> parameters();
  /// What the optimizer keeps beside them, likewise.
  std::vector<TensorView> optimizer_state();
  /// The state of that name. Errors: invalid_argument with the nearest name.
  Result<TensorView> find_state(std::string_view name);

  const SessionPlan& plan() const { return plan_; }
  const memory::Ledger& ledger() const { return ledger_; }
  /// Books as runtime what the process holds now beside the arena: the pages that the kernel counts as resident (loader
  /// and tokenizer among them) and the arena's page tables; where it does not say, what the plan has for that. So the
  /// peak of that row is that of the moments when this was called. Cost: about 0.1 ms.
  void read_runtime();
  Environment& environment() { return environment_; }
  memory::Arena& arena() { return *arena_; }
  /// How long it took to draw the parameters and zero the optimizer's state.
  double initialize_seconds() const { return initialize_seconds_; }

 private:
  Session(SessionPlan plan, Environment& environment) : plan_(std::move(plan)), environment_(environment) {}
  void initialize(uint64_t seed);
  void book();
  std::vector<TensorView> state_of(graph::ValueKind kind);

  SessionPlan plan_;
  Environment& environment_;
  std::unique_ptr<memory::Arena> arena_;
  std::unique_ptr<Runner> train_, evaluate_, generate_;
  memory::Ledger ledger_;
  double initialize_seconds_ = 0;
};

}  // namespace plimsoll::engine
