#include "engine/compile.h"

#include <cstdio>
#include <set>

#include "core/hash.h"
#include "graph/text.h"
#include "plan/check.h"
#include "plan/early_release.h"
#include "runtime/executor.h"

namespace plimsoll::engine {
namespace {

/// Sixteen hexadecimal digits of everything that compilation decides and that can change a bit of the result.
std::string hash_decisions(const graph::Graph& graph, Environment& environment, const LowerOptions& lowering,
                           const Lowered& lowered) {
  const backends::DeviceDescription device = environment.backend().describe();
  std::string text = device.kind + "\n" + device.instruction_set + "\n" + std::to_string(lowering.microbatches) + "\n";
  for (int index : lowered.kernels) {
    const Catalogue::Entry& entry = environment.catalogue().entry(index);
    text += to_key(entry.spec) + (entry.refusal.empty() ? "\n" : " by the reference backend\n");
  }
  text += graph::to_text(graph);
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(stable_hash(text)));
  return digits;
}

}  // namespace

int64_t CompiledProgram::offset_of(const Place& state) const {
  const int residence = residence_of[static_cast<size_t>(state.buffer)];
  return program().residences[static_cast<size_t>(residence)].offset_bytes;
}

std::map<std::string, int64_t> CompiledProgram::state_offsets() const {
  std::map<std::string, int64_t> out;
  for (const auto& [name, place] : lowered.state) out[name] = offset_of(place);
  return out;
}

std::vector<const backends::Kernel*> CompiledProgram::kernels(const Catalogue& catalogue) const {
  std::vector<const backends::Kernel*> out;
  out.reserve(lowered.kernels.size());
  for (int index : lowered.kernels) out.push_back(catalogue.entry(index).kernel.get());
  return out;
}

std::vector<ops::Cost> CompiledProgram::costs(const Catalogue& catalogue) const {
  std::vector<ops::Cost> out;
  for (int index : lowered.kernels) out.push_back(catalogue.entry(index).cost);
  return out;
}

void CompiledProgram::predict(const Catalogue& catalogue) {
  for (plan::ProblemSegment& segment : lowered.problem.segments)
    for (plan::ProblemInstruction& instruction : segment.instructions)
      if (instruction.kernel >= 0)
        instruction.duration_ns = catalogue.duration_ns(lowered.kernels[static_cast<size_t>(instruction.kernel)]);
  plan.predicted_s = plan::predict_s(lowered.problem);
}

std::vector<std::string> CompiledProgram::fallbacks(const Catalogue& catalogue) const {
  std::set<std::string> out;
  for (int index : lowered.kernels) {
    const Catalogue::Entry& entry = catalogue.entry(index);
    if (!entry.refusal.empty()) out.insert(entry.spec.op + ": " + entry.refusal);
  }
  return {out.begin(), out.end()};
}

Error refute(const Error& error) { return error.with_context("the plan failed its check, which is a bug in plimsoll"); }

Result<CompiledProgram> compile(const graph::Graph& graph, Environment& environment, const LowerOptions& lowering,
                                const plan::PlanOptions& planning) {
  CompiledProgram out;
  PLIMSOLL_ASSIGN(out.lowered, lower(graph, environment.ops(), environment.catalogue(), lowering));
  out.lowered.problem.compile_hash = hash_decisions(graph, environment, lowering, out.lowered);
  PLIMSOLL_RETURN_IF_ERROR(plan::check_sizes(out.lowered.problem, planning));
  // Behind the hash, for neither changes a bit.
  if (lowering.releases_early) out.lowered.problem = plan::release_early(std::move(out.lowered.problem));
  if (lowering.recomputes) out.lowered.problem = plan::recompute(std::move(out.lowered.problem), *lowering.recomputes);
  PLIMSOLL_ASSIGN(out.plan, plan::make_plan(out.lowered.problem, planning));
  const auto& residences = out.program().residences;
  out.residence_of.assign(out.program().buffers.size(), -1);
  for (size_t i = residences.size(); i-- > 0;)
    out.residence_of[static_cast<size_t>(residences[i].buffer)] = static_cast<int>(i);
  for (int index : out.lowered.kernels) out.plan.program.kernels.push_back(environment.catalogue().entry(index).spec);
  plan::Budgets budgets;
  if (planning.budget) budgets.bytes[static_cast<size_t>(planning.space)] = planning.budget->value;
  const Status proof = plan::check_program(out.plan.program, budgets);
  if (!proof.ok()) return refute(proof.error());
  PLIMSOLL_RETURN_IF_ERROR(runtime::check_executable(out.plan.program));
  return out;
}

}  // namespace plimsoll::engine
