#include "transform/fusion.h"

#include <algorithm>

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

bool may_read_all(const Uses& uses, std::span<const ValueId> ids, size_t earlier, size_t later) {
  return std::ranges::all_of(ids, [&](ValueId id) { return uses.may_read_later(id, earlier, later); });
}

/// Whether a node up to `next` reads what the chain keeps, which is made only with the end of the chain.
bool needs_kept(const ChainGrowth& growth, const Uses& uses, size_t next) {
  return std::ranges::any_of(growth.part.kept, [&](ValueId kept) {
    return std::ranges::any_of(uses.readers(kept), [&](size_t reader) {
      return reader <= next && std::ranges::count(growth.absorbed, reader) == 0;
    });
  });
}

}  // namespace

Fusion::Fusion(const Graph& graph, const ops::OpTable& ops)
    : graph_(graph), uses_(graph, ops), changes_(graph), is_taken_(graph.nodes().size()) {}

std::optional<size_t> Fusion::next_reader(const ChainGrowth& growth, bool keeps) const {
  const std::vector<size_t>& readers = uses_.readers(growth.value);
  const auto is_here = [&](size_t reader) { return node(reader).phase == node(growth.first).phase; };
  const bool may_keep = keeps && !uses_.is_end(growth.value) && std::ranges::all_of(readers, is_here);
  if (readers.empty() || (!may_keep && !uses_.only_reader(growth.value))) return std::nullopt;
  const size_t next = readers.front();
  return is_here(next) && !is_taken_[next] ? std::optional(next) : std::nullopt;
}

void Fusion::grow(ChainGrowth& growth, std::span<const ValueId> inputs, bool keeps) const {
  while (const std::optional<size_t> next = next_reader(growth, keeps)) {
    const std::optional<ChainPart> step = as_steps(graph_, node(*next), growth.value);
    if (!step || !may_read_all(uses_, inputs, growth.first, *next) ||
        !may_read_all(uses_, growth.part.srcs, growth.first, *next) || needs_kept(growth, uses_, *next))
      return;
    if (!uses_.only_reader(growth.value)) {
      growth.part.chain.steps.push_back({.op = std::string(ops::kKeep), .srcs = {}});
      growth.part.kept.push_back(growth.value);
    }
    append(growth.part, *step);
    growth.absorbed.push_back(*next);
    growth.value = node(*next).outputs[0];
  }
}

bool Fusion::goes(ValueId id, size_t at, std::span<const size_t> parts) const {
  const graph::Value& value = graph_.value(id);
  if (value.kind != graph::ValueKind::kComputed) return false;
  const size_t producer = value.producer.index();
  return producer == at || std::ranges::count(parts, producer) > 0;
}

bool Fusion::try_replace(size_t at, std::span<const size_t> parts, Node fused) {
  for (size_t i = 0; i < fused.outputs.size(); ++i) {
    const ValueId known = graph_.find_value(graph::output_name(fused.name, static_cast<int>(i)));
    if (known.is_valid() && !goes(known, at, parts)) return false;
  }
  for (size_t i : parts) is_taken_[i] = changes_.drops_node[i] = true;
  is_taken_[at] = true;
  changes_.replacements[at] = std::move(fused);
  return true;
}

}  // namespace plimsoll::transform
