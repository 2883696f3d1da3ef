#include "engine/session.h"

#include <algorithm>
#include <cstring>

#include "core/stopwatch.h"
#include "core/suggest.h"
#include "hardware/process_memory.h"

namespace plimsoll::engine {

Result<std::unique_ptr<Session>> Session::make(SessionPlan plan, Environment& environment, uint64_t seed) {
  std::unique_ptr<Session> session(new Session(std::move(plan), environment));
  const SessionPlan& p = session->plan_;
  PLIMSOLL_ASSIGN(session->arena_, memory::try_make_host_arena(Bytes{p.need.arena_bytes}, environment.pool()));
  std::byte* base = session->arena_->data();
  session->train_ = std::make_unique<Runner>(p.train, environment, base);
  if (p.evaluate) session->evaluate_ = std::make_unique<Runner>(*p.evaluate, environment, base);
  if (p.generate) session->generate_ = std::make_unique<Runner>(*p.generate, environment, base);
  session->initialize(seed);
  session->book();
  return session;
}

void Session::initialize(uint64_t seed) {
  const Stopwatch watch;
  static constexpr int64_t kElementsPerTask = 1 << 16;
  for (const TensorView& view : parameters()) {
    const models::Initializer initializer = plan_.spec.training.parameters.at(view.name).initializer;
    const int64_t numel = view.desc.numel();
    environment_.pool().run((numel + kElementsPerTask - 1) / kElementsPerTask, [&](int64_t task, int) {
      const int64_t first = task * kElementsPerTask;
      const auto count = static_cast<size_t>(std::min(kElementsPerTask, numel - first));
      models::initialize({reinterpret_cast<float*>(view.data) + first, count}, first, initializer, view.name, seed);
    });
  }
  for (const TensorView& view : optimizer_state()) environment_.backend().zero(view.data, view.desc.size_bytes());
  initialize_seconds_ = watch.seconds();
}

void Session::book() {
  // The arena is one allocation: what the plan does not name in it is padding, booked as activations.
  int64_t named = 0;
  for (const plan::Plan::Holder& holder : plan_.train.plan.holders) {
    ledger_.add(Space::kHost, holder.category, Bytes{holder.size_bytes});
    named += holder.size_bytes;
  }
  ledger_.add(Space::kHost, Category::kActivations, Bytes{std::max<int64_t>(0, plan_.need.arena_bytes - named)});
  read_runtime();
}

void Session::read_runtime() {
  const auto memory = hardware::try_read_process_memory();
  const int64_t beside = plan_.need.arena_bytes - plan_.need.page_table_bytes;
  const int64_t planned = plan_.need.runtime_bytes + plan_.need.page_table_bytes + plan_.need.data_bytes;
  const int64_t bytes = memory.ok() ? std::max<int64_t>(0, memory->resident.value - beside) : planned;
  ledger_.set(Space::kHost, Category::kRuntime, Bytes{bytes});
}

std::vector<TensorView> Session::state_of(graph::ValueKind kind) {
  std::vector<TensorView> out;
  const auto offsets = plan_.train.state_offsets();
  for (const graph::Value& value : plan_.training_graph.values())
    if (value.kind == kind) out.push_back({value.name, value.desc, arena_->at(offsets.at(value.name))});
  return out;
}

std::vector<TensorView> Session::parameters() { return state_of(graph::ValueKind::kParameter); }
std::vector<TensorView> Session::optimizer_state() { return state_of(graph::ValueKind::kState); }

Result<TensorView> Session::find_state(std::string_view name) {
  const auto& state = plan_.train.lowered.state;
  if (const auto it = state.find(name); it != state.end())
    return TensorView{it->first, it->second.desc, arena_->at(plan_.train.offset_of(it->second))};
  std::vector<std::string> names;
  for (const auto kind : {graph::ValueKind::kParameter, graph::ValueKind::kState})
    for (const graph::Value& value : plan_.training_graph.values())
      if (value.kind == kind) names.push_back(value.name);
  return invalid_argument("there is no parameter or state '" + std::string(name) + "'" + suggest(name, names));
}

}  // namespace plimsoll::engine
