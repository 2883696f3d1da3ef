#include "transform/storage.h"

#include <algorithm>
#include <limits>

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;
using graph::ValueKind;
using ops::Alias;

constexpr int kForever = std::numeric_limits<int>::max();

class Assigner {
 public:
  Assigner(const Graph& graph, const ops::OpTable& ops, const StorageOptions& options)
      : graph_(graph), ops_(ops), options_(options), last_use_(graph.values().size(), -1) {
    out_.slots.resize(graph.values().size());
    out_.versions.resize(graph.values().size());
    out_.is_view.resize(graph.nodes().size());
  }

  Result<Storage> run() {
    find_last_uses();
    for (size_t i = 0; i < graph_.values().size(); ++i)
      if (graph_.values()[i].kind != ValueKind::kComputed) own_buffer({static_cast<int32_t>(i)});
    for (size_t i = 0; i < graph_.nodes().size(); ++i) PLIMSOLL_RETURN_IF_ERROR(place_outputs(static_cast<int>(i)));
    PLIMSOLL_RETURN_IF_ERROR(check_updates());
    return std::move(out_);
  }

 private:
  /// A state that takes a value from elsewhere would keep what it had.
  Status check_updates() const {
    for (const graph::StateUpdate& update : graph_.updates())
      if (out_.slots[update.next.index()] != out_.slots[update.state.index()])
        return unsupported("[storage] '" + graph_.value(update.state).name + "' is to take '" +
                           graph_.value(update.next).name + "', which no op writes in its place");
    return {};
  }

  void find_last_uses() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i)
      for (ValueId input : graph_.nodes()[i].inputs) last_use_[input.index()] = static_cast<int>(i);
    for (const graph::Output& output : graph_.outputs()) last_use_[output.value.index()] = kForever;
    for (const graph::FiniteCheck& check : graph_.checks()) last_use_[check.value.index()] = kForever;
  }

  void own_buffer(ValueId id) {
    out_.slots[id.index()] = {static_cast<int>(out_.owners.size()), 0};
    out_.owners.push_back(id);
    out_.buffer_bytes.push_back(graph_.value(id).desc.size_bytes());
    buffer_last_use_.push_back(last_use_[id.index()]);
    writes_.push_back(0);
  }

  /// `id` takes the storage of `source`; a view keeps the version, a write makes the next.
  void share(ValueId id, ValueId source, int64_t offset_bytes, bool is_write) {
    Storage::Slot slot = out_.slots[source.index()];
    slot.offset_bytes += offset_bytes;
    out_.slots[id.index()] = slot;
    const auto buffer = static_cast<size_t>(slot.buffer);
    out_.versions[id.index()] = is_write ? ++writes_[buffer] : out_.versions[source.index()];
    buffer_last_use_[buffer] = std::max(buffer_last_use_[buffer], last_use_[id.index()]);
  }

  Status place_outputs(int index) {
    const Node& node = graph_.nodes()[static_cast<size_t>(index)];
    const ops::OpDef& def = ops_.at(node.op);
    const ops::NodeCall call(graph_, node);
    const std::vector<Alias> aliases = def.aliases ? def.aliases(call.call()) : std::vector<Alias>{};
    size_t views = 0;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId output = node.outputs[i];
      if (const ValueId accumulator = accumulator_of(node, static_cast<int>(i)); accumulator.is_valid()) {
        share(output, accumulator, 0, true);
        continue;
      }
      const Alias* alias = choose_alias(node, index, static_cast<int>(i), aliases);
      if (alias == nullptr) {
        own_buffer(output);
        out_.versions[output.index()] = ++writes_.back();
        continue;
      }
      const ValueId source = node.inputs[static_cast<size_t>(alias->src)];
      if (alias->kind == Alias::Kind::kUpdate && last_read_of_buffer(source) > index)
        return invalid_argument("[storage] '" + graph_.value(source).name + "' is read after '" + node.name +
                                "' has updated it");
      views += alias->kind == Alias::Kind::kView ? 1 : 0;
      share(output, source, alias->offset_bytes, alias->kind != Alias::Kind::kView);
    }
    out_.is_view[static_cast<size_t>(index)] = !node.outputs.empty() && views == node.outputs.size();
    return {};
  }

  /// Views that were made of it count too.
  int last_read_of_buffer(ValueId id) const {
    return buffer_last_use_[static_cast<size_t>(out_.slots[id.index()].buffer)];
  }

  static ValueId accumulator_of(const Node& node, int output) {
    for (size_t i = 0; i < node.accumulated_outputs.size(); ++i)
      if (node.accumulated_outputs[i] == output) return node.inputs[node.operand_count() + i];
    return {};
  }

  const Alias* choose_alias(const Node& node, int index, int output, std::span<const Alias> aliases) const {
    for (const Alias& alias : aliases) {
      if (alias.dst != output) continue;
      if (alias.kind != Alias::Kind::kInPlace || may_overwrite(node, index, alias)) return &alias;
    }
    return nullptr;
  }

  bool may_overwrite(const Node& node, int index, const Alias& alias) const {
    const ValueId source = node.inputs[static_cast<size_t>(alias.src)];
    const ValueId output = node.outputs[static_cast<size_t>(alias.dst)];
    const Storage::Slot slot = out_.slots[source.index()];
    const auto buffer = static_cast<size_t>(slot.buffer);
    if (!options_.in_place || options_.is_carried(output)) return false;
    if (graph_.value(out_.owners[buffer]).kind != ValueKind::kComputed || options_.is_carried(out_.owners[buffer]))
      return false;
    if (slot.offset_bytes != 0 || out_.buffer_bytes[buffer] != graph_.value(output).desc.size_bytes()) return false;
    if (buffer_last_use_[buffer] > index) return false;
    // Another operand or output in the same buffer would see bytes change under it.
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] != source && out_.slots[node.inputs[i].index()].buffer == slot.buffer) return false;
    for (int i = 0; i < alias.dst; ++i)
      if (out_.slots[node.outputs[static_cast<size_t>(i)].index()].buffer == slot.buffer) return false;
    return true;
  }

  const Graph& graph_;
  const ops::OpTable& ops_;
  const StorageOptions& options_;
  std::vector<int> last_use_;         ///< by value
  std::vector<int> buffer_last_use_;  ///< by buffer, over the values placed so far
  std::vector<int> writes_;           ///< by buffer
  Storage out_;
};

}  // namespace

Result<Storage> assign_storage(const Graph& graph, const ops::OpTable& ops, const StorageOptions& options) {
  return Assigner(graph, ops, options).run();
}

}  // namespace plimsoll::transform
