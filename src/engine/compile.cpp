#include "engine/compile.h"

#include <set>

#include "plan/check.h"

namespace plimsoll::engine {

std::map<std::string, int64_t> CompiledProgram::state_offsets() const {
  std::map<std::string, int64_t> out;
  for (const auto& [name, place] : lowered.state)
    out[name] = program().residences[static_cast<size_t>(residence_of[static_cast<size_t>(place.buffer)])].offset_bytes;
  return out;
}

std::vector<const backends::Kernel*> CompiledProgram::kernels(const Catalogue& catalogue) const {
  std::vector<const backends::Kernel*> out;
  for (int index : lowered.kernels) out.push_back(catalogue.entry(index).kernel.get());
  return out;
}

std::vector<std::string> CompiledProgram::fallbacks(const Catalogue& catalogue) const {
  std::set<std::string> out;
  for (int index : lowered.kernels) {
    const Catalogue::Entry& entry = catalogue.entry(index);
    if (!entry.refusal.empty()) out.insert(entry.spec.op + ": " + entry.refusal);
  }
  return {out.begin(), out.end()};
}

Result<CompiledProgram> compile(const graph::Graph& graph, Environment& environment, const LowerOptions& lowering,
                                const plan::PlanOptions& planning) {
  CompiledProgram out;
  PLIMSOLL_ASSIGN(out.lowered, lower(graph, environment.ops(), environment.catalogue(), lowering));
  PLIMSOLL_ASSIGN(out.plan, plan::make_plan(out.lowered.problem, planning));
  const auto& residences = out.program().residences;
  out.residence_of.assign(out.program().buffers.size(), -1);
  for (size_t i = residences.size(); i-- > 0;)
    out.residence_of[static_cast<size_t>(residences[i].buffer)] = static_cast<int>(i);
  for (int index : out.lowered.kernels) out.plan.program.kernels.push_back(environment.catalogue().entry(index).spec);
  const Status proof = plan::check_program(out.plan.program, {});
  if (!proof.ok()) return proof.error().with_context("the plan failed its check, which is a bug in plimsoll");
  return out;
}

}  // namespace plimsoll::engine
