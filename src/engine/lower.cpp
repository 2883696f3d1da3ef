#include "engine/lower.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "transform/storage.h"

namespace plimsoll::engine {
namespace {

using graph::Graph;
using graph::Node;
using graph::Phase;
using graph::ValueId;
using graph::ValueKind;
using program::Kind;
using program::Lane;
using program::Role;
using program::When;

/// Values that cross from the microbatches to the update. `direct` ones add up in their own buffer; the others are
/// added into a buffer beside them, because a microbatch reads them too or their op cannot add.
struct Carried {
  std::set<ValueId> all;
  std::set<ValueId> direct;
};

template <class T>
void append(std::vector<std::byte>& out, double number) {
  const T value = static_cast<T>(number);
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

/// A constant's elements in its dtype.
std::vector<std::byte> to_bytes(const graph::Value& constant) {
  std::vector<std::byte> out;
  for (double number : constant.literal) {
    switch (constant.desc.dtype) {
      case DType::kF32: append<float>(out, number); break;
      case DType::kF64: append<double>(out, number); break;
      case DType::kI32: append<int32_t>(out, number); break;
      case DType::kI64: append<int64_t>(out, number); break;
      case DType::kBool: append<uint8_t>(out, number); break;
      default: PLIMSOLL_CHECK(false, "constants of ", to_string(constant.desc.dtype)); break;
    }
  }
  return out;
}

constexpr const char* kBeginsSum = "the first microbatch begins the sum";
constexpr const char* kAddsToSum = "later microbatches add to the sum";

class Lowerer {
 public:
  Lowerer(const Graph& graph, const ops::OpTable& ops, Catalogue& catalogue, const LowerOptions& options)
      : graph_(graph), ops_(ops), catalogue_(catalogue), options_(options) {}

  Result<Lowered> run() {
    PLIMSOLL_RETURN_IF_ERROR(check_outputs());
    if (options_.microbatches > 1) find_carried();
    PLIMSOLL_ASSIGN(storage_, transform::assign_storage(
                                  graph_, ops_, {.in_place = options_.in_place, .is_carried = [this](ValueId v) {
                                                   return carried_.direct.contains(v);
                                                 }}));
    out_.problem.name = graph_.name();
    out_.problem.step_base_bytes = options_.step_base_bytes;
    add_buffers();
    const bool loops = options_.microbatches > 1;
    open_segment(loops ? "microbatch" : "step", options_.microbatches);
    add_feeds();
    bool is_updating = false;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (loops && node.phase == Phase::kUpdate && !is_updating) {
        is_updating = true;
        open_segment("update", 1);
      }
      if (!storage_.is_view[i]) PLIMSOLL_RETURN_IF_ERROR(add_node(node));
      if (!is_updating) PLIMSOLL_RETURN_IF_ERROR(add_sums(node));
      PLIMSOLL_RETURN_IF_ERROR(add_checks(node.outputs));
    }
    record_places();
    return std::move(out_);
  }

 private:
  plan::ProblemSegment& segment() { return out_.problem.segments.back(); }

  void open_segment(std::string name, int64_t trips) {
    out_.problem.segments.push_back({.name = std::move(name), .trips = trips});
  }

  bool is_micro_value(ValueId id) const {
    const graph::Value& value = graph_.value(id);
    return value.kind == ValueKind::kComputed && graph_.node(value.producer).phase != Phase::kUpdate;
  }

  /// What is fed has no sum over the microbatches.
  Status check_outputs() const {
    for (const graph::Output& output : graph_.outputs()) {
      const ValueKind kind = graph_.value(output.value).kind;
      const bool is_fed = kind == ValueKind::kInput || kind == ValueKind::kScalar || kind == ValueKind::kConstant;
      if (options_.microbatches > 1 && is_fed)
        return unsupported("output '" + output.name + "' is fed; with " + std::to_string(options_.microbatches) +
                           " microbatches each has its own");
    }
    return {};
  }

  void find_carried() {
    std::map<ValueId, int> micro_readers;
    for (const Node& node : graph_.nodes()) {
      for (ValueId input : node.inputs) {
        if (!is_micro_value(input)) continue;
        if (node.phase == Phase::kUpdate)
          carried_.all.insert(input);
        else
          ++micro_readers[input];
      }
    }
    for (const graph::Output& output : graph_.outputs())
      if (is_micro_value(output.value)) carried_.all.insert(output.value);
    for (ValueId id : carried_.all) {
      if (micro_readers[id] > 0) continue;
      std::vector<ValueId> chain = accumulation_chain(id);
      const bool is_private = std::all_of(chain.begin() + 1, chain.end(), [&](ValueId v) {
        return micro_readers[v] == 1 && !carried_.all.contains(v);
      });
      if (is_private && can_add(chain.back())) carried_.direct.insert(chain.begin(), chain.end());
    }
  }

  /// `id`, what it was added into, what that was added into, …
  std::vector<ValueId> accumulation_chain(ValueId id) const {
    std::vector<ValueId> chain{id};
    while (true) {
      const graph::Value& value = graph_.value(chain.back());
      if (value.kind != ValueKind::kComputed) return chain;
      const Node& node = graph_.node(value.producer);
      const auto& outputs = node.accumulated_outputs;
      const auto it = std::find(outputs.begin(), outputs.end(), value.output_index);
      if (it == outputs.end()) return chain;
      chain.push_back(node.inputs[node.operand_count() + static_cast<size_t>(it - outputs.begin())]);
    }
  }

  bool can_add(ValueId id) const {
    const graph::Value& value = graph_.value(id);
    if (value.kind != ValueKind::kComputed) return false;
    const std::vector<int>& able = ops_.at(graph_.node(value.producer).op).accumulating_dsts;
    return std::find(able.begin(), able.end(), value.output_index) != able.end();
  }

  Category category_of(ValueId id) const {
    const graph::Value& value = graph_.value(id);
    switch (value.kind) {
      case ValueKind::kParameter: return Category::kParameters;
      case ValueKind::kState: return options_.state_category(value);
      case ValueKind::kInput:
      case ValueKind::kScalar:
      case ValueKind::kConstant: return Category::kInput;
      case ValueKind::kComputed: break;
    }
    return gradients().contains(id) ? Category::kGradients : Category::kActivations;
  }

  /// Backward values that the update reads.
  const std::set<ValueId>& gradients() const {
    if (gradients_.empty()) {
      for (const Node& node : graph_.nodes())
        if (node.phase == Phase::kUpdate)
          for (ValueId input : node.inputs)
            if (is_micro_value(input)) {
              const auto chain = accumulation_chain(input);
              gradients_.insert(chain.begin(), chain.end());
            }
      gradients_.insert(ValueId{});  // so that an empty set is not sought twice
    }
    return gradients_;
  }

  void add_buffers() {
    for (size_t b = 0; b < storage_.owners.size(); ++b) {
      const ValueId owner = storage_.owners[b];
      const graph::Value& value = graph_.value(owner);
      const bool is_state = value.kind == ValueKind::kParameter || value.kind == ValueKind::kState;
      plan::ProblemBuffer buffer{.name = value.name,
                                 .size_bytes = storage_.buffer_bytes[b],
                                 .category = category_of(owner),
                                 .origin = value.name,
                                 .is_state = is_state};
      if (const auto it = options_.state_offsets.find(value.name); is_state && it != options_.state_offsets.end())
        buffer.state_offset = it->second;
      if (value.kind == ValueKind::kInput && options_.microbatches > 1) buffer.slots = 2;
      out_.problem.buffers.push_back(std::move(buffer));
    }
    for (size_t i = 0; i < graph_.values().size(); ++i)
      if (graph_.values()[i].kind == ValueKind::kScalar) out_.scalars.push_back(graph_.values()[i].name);
    if (!out_.scalars.empty())
      scalar_buffer_ = add_buffer(kScalarFeed, static_cast<int64_t>(out_.scalars.size()) * 8, Category::kInput);
    for (ValueId id : carried_.all)
      if (!carried_.direct.contains(id))
        sums_[id] = add_buffer(graph_.value(id).name + ".sum", graph_.value(id).desc.size_bytes(), category_of(id));
  }

  int add_buffer(const std::string& name, int64_t size_bytes, Category category) {
    out_.problem.buffers.push_back({.name = name, .size_bytes = size_bytes, .category = category, .origin = name});
    return static_cast<int>(out_.problem.buffers.size()) - 1;
  }

  /// Where a value is for readers after the microbatches.
  transform::Storage::Slot slot_of(ValueId id) const {
    if (const auto it = sums_.find(id); it != sums_.end()) return {it->second, 0};
    return own_slot(id);
  }

  transform::Storage::Slot own_slot(ValueId id) const {
    const graph::Value& value = graph_.value(id);
    if (value.kind != ValueKind::kScalar) return storage_.slots[id.index()];
    const auto it = std::find(out_.scalars.begin(), out_.scalars.end(), value.name);
    return {scalar_buffer_, 8 * (it - out_.scalars.begin())};
  }

  plan::Use use_at(transform::Storage::Slot slot, ValueId id, int version, Role role) const {
    return {.buffer = slot.buffer,
            .begin_bytes = slot.offset_bytes,
            .end_bytes = slot.offset_bytes + graph_.value(id).desc.size_bytes(),
            .version = version,
            .role = role};
  }

  plan::Use read(ValueId id, Phase reader) const {
    if (reader == Phase::kUpdate && sums_.contains(id)) return use_at(slot_of(id), id, 1, Role::kRead);
    return use_at(own_slot(id), id, storage_.versions[id.index()], Role::kRead);
  }

  void add_feeds() {
    const auto feed = [&](int buffer, int64_t size_bytes, const std::string& label) {
      segment().instructions.push_back({.kind = Kind::kFeed,
                                        .lane = Lane::kHostToDevice,
                                        .uses = {{.buffer = buffer, .end_bytes = size_bytes, .role = Role::kWrite}},
                                        .label = label});
    };
    if (scalar_buffer_ >= 0) feed(scalar_buffer_, static_cast<int64_t>(out_.scalars.size()) * 8, kScalarFeed);
    std::vector<bool> is_read(graph_.values().size());
    for (const Node& node : graph_.nodes())
      for (ValueId input : node.inputs) is_read[input.index()] = true;
    for (const graph::Output& output : graph_.outputs()) is_read[output.value.index()] = true;
    for (size_t i = 0; i < graph_.values().size(); ++i) {
      const graph::Value& value = graph_.values()[i];
      if (!is_read[i] || (value.kind != ValueKind::kInput && value.kind != ValueKind::kConstant)) continue;
      feed(storage_.slots[i].buffer, value.desc.size_bytes(), value.name);
      out_.feeds[value.name] = value.kind == ValueKind::kConstant ? to_bytes(value) : std::vector<std::byte>{};
    }
  }

  Status add_node(const Node& node) {
    std::vector<int> first_writes;  // outputs that begin a sum over microbatches in their own buffer
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (carried_.direct.contains(node.outputs[i]) && !accumulates(node, static_cast<int>(i)))
        first_writes.push_back(static_cast<int>(i));
    if (first_writes.empty()) return add_compute(node, {}, When::kAlways, "");
    PLIMSOLL_RETURN_IF_ERROR(add_compute(node, {}, When::kFirst, kBeginsSum));
    return add_compute(node, first_writes, When::kNotFirst, kAddsToSum);
  }

  static bool accumulates(const Node& node, int output) {
    return std::count(node.accumulated_outputs.begin(), node.accumulated_outputs.end(), output) > 0;
  }

  Status add_compute(const Node& node, std::span<const int> adds_to_last, When when, const char* reason) {
    const ops::NodeCall call(graph_, node);
    program::Kernel kernel{.op = node.op, .attributes = node.attributes};
    kernel.srcs.assign(call.srcs().begin(), call.srcs().end());
    kernel.dsts.assign(call.dsts().begin(), call.dsts().end());
    kernel.accumulated_dsts = node.accumulated_outputs;
    kernel.accumulated_dsts.insert(kernel.accumulated_dsts.end(), adds_to_last.begin(), adds_to_last.end());
    std::sort(kernel.accumulated_dsts.begin(), kernel.accumulated_dsts.end());
    plan::ProblemInstruction instruction{.when = when, .label = node.name, .reason = reason};
    for (size_t i = 0; i < node.operand_count(); ++i) instruction.uses.push_back(read(node.inputs[i], node.phase));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId output = node.outputs[i];
      const bool adds = std::count(adds_to_last.begin(), adds_to_last.end(), static_cast<int>(i)) > 0;
      const Role role = adds ? Role::kAccumulate
                        : accumulates(node, static_cast<int>(i)) || is_update(node, static_cast<int>(i)) ? Role::kUpdate
                                                                                                         : Role::kWrite;
      instruction.uses.push_back(use_at(own_slot(output), output, storage_.versions[output.index()], role));
    }
    const Status status = finish(std::move(instruction), std::move(kernel));
    return status.ok() ? status : Status(status.error().with_context("'" + node.name + "'"));
  }

  bool is_update(const Node& node, int output) const {
    const ops::OpDef& def = ops_.at(node.op);
    if (!def.aliases) return false;
    const ops::NodeCall call(graph_, node);
    for (const ops::Alias& alias : def.aliases(call.call()))
      if (alias.dst == output && alias.kind == ops::Alias::Kind::kUpdate) return true;
    return false;
  }

  /// Writes down over which sources the op may write.
  void add_in_place(program::Kernel& kernel) const {
    const ops::OpDef& def = ops_.at(kernel.op);
    if (!def.aliases) return;
    for (const ops::Alias& alias : def.aliases({kernel.srcs, kernel.dsts, kernel.attributes})) {
      const auto& accumulated = kernel.accumulated_dsts;
      const bool adds = std::find(accumulated.begin(), accumulated.end(), alias.dst) != accumulated.end();
      if (alias.kind != ops::Alias::Kind::kView && !adds) kernel.in_place.push_back({alias.dst, alias.src});
    }
  }

  /// Looks the kernel up and appends the instruction.
  Status finish(plan::ProblemInstruction instruction, program::Kernel kernel) {
    add_in_place(kernel);
    PLIMSOLL_ASSIGN(const int index, catalogue_.prepare(std::move(kernel)));
    const auto [it, is_first] = kernel_of_entry_.emplace(index, static_cast<int>(out_.kernels.size()));
    instruction.kernel = it->second;
    if (is_first) {
      out_.kernels.push_back(index);
      out_.kept.push_back(catalogue_.share(index));
    }
    instruction.workspace_bytes = catalogue_.entry(index).spec.workspace_bytes;
    instruction.flops = catalogue_.entry(index).cost.flops;
    instruction.bytes = catalogue_.entry(index).cost.bytes;
    instruction.duration_ns = catalogue_.duration_ns(index);
    segment().instructions.push_back(std::move(instruction));
    return {};
  }

  /// Adds what this microbatch made to the sums that the update or the host reads.
  Status add_sums(const Node& node) {
    for (ValueId output : node.outputs) {
      const auto it = sums_.find(output);
      if (it == sums_.end()) continue;
      for (const When when : {When::kFirst, When::kNotFirst}) {
        const bool is_first = when == When::kFirst;
        // A sum over one row is a copy that can add.
        const TensorDesc& desc = graph_.value(output).desc;
        program::Kernel kernel{.op = "reduce_sum",
                               .attributes = {{"axes", std::vector<int64_t>{0}}, {"keep_dims", false}},
                               .srcs = {{desc.dtype, {1, desc.numel()}, {}}},
                               .dsts = {{desc.dtype, {desc.numel()}, {}}}};
        if (!is_first) kernel.accumulated_dsts = {0};
        PLIMSOLL_RETURN_IF_ERROR(
            finish({.uses = {read(output, Phase::kBackward),
                             use_at({it->second, 0}, output, 1, is_first ? Role::kWrite : Role::kAccumulate)},
                    .when = when,
                    .label = graph_.value(output).name + ".sum",
                    .reason = is_first ? kBeginsSum : kAddsToSum},
                   std::move(kernel)));
      }
    }
    return {};
  }

  /// The checks of the values that were just made.
  Status add_checks(std::span<const ValueId> made) {
    for (const graph::FiniteCheck& check : graph_.checks()) {
      if (std::find(made.begin(), made.end(), check.value) == made.end()) continue;
      if (graph_.value(check.value).desc.dtype != DType::kF32)
        return unsupported("the check of the " + check.what + " needs f32");
      segment().instructions.push_back({.kind = Kind::kCheck,
                                        .uses = {read(check.value, Phase::kBackward)},
                                        .label = check.what,
                                        .reason = "a number that is not finite must change nothing"});
    }
    return {};
  }

  void record_places() {
    for (const graph::Output& output : graph_.outputs()) {
      const int version = sums_.contains(output.value) ? 1 : storage_.versions[output.value.index()];
      out_.problem.outputs.push_back({output.name, use_at(slot_of(output.value), output.value, version, Role::kRead)});
      out_.outputs[output.name] = graph_.value(output.value).desc;
    }
    for (size_t i = 0; i < graph_.values().size(); ++i) {
      const graph::Value& value = graph_.values()[i];
      if (value.kind == ValueKind::kParameter || value.kind == ValueKind::kState)
        out_.state[value.name] = {storage_.slots[i].buffer, 0, value.desc};
    }
  }

  const Graph& graph_;
  const ops::OpTable& ops_;
  Catalogue& catalogue_;
  const LowerOptions& options_;
  Carried carried_;
  transform::Storage storage_;
  std::map<ValueId, int> sums_;  ///< buffers of carried values that do not add up in place
  int scalar_buffer_ = -1;
  mutable std::set<ValueId> gradients_;
  std::unordered_map<int, int> kernel_of_entry_;  ///< by index in the catalogue
  Lowered out_;
};

}  // namespace

Result<Lowered> lower(const Graph& graph, const ops::OpTable& ops, Catalogue& catalogue, const LowerOptions& options) {
  return Lowerer(graph, ops, catalogue, options).run();
}

}  // namespace plimsoll::engine
