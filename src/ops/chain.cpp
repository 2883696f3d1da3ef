#include "ops/chain.h"

#include <algorithm>
#include <charconv>

#include "core/suggest.h"
#include "graph/line_reader.h"

namespace plimsoll::ops {

void define_abs(OpTable& table);
void define_add(OpTable& table);
void define_clip(OpTable& table);
void define_cos(OpTable& table);
void define_divide(OpTable& table);
void define_dropout(OpTable& table);
void define_erf(OpTable& table);
void define_exp(OpTable& table);
void define_gelu(OpTable& table);
void define_log(OpTable& table);
void define_maximum(OpTable& table);
void define_minimum(OpTable& table);
void define_multiply(OpTable& table);
void define_neg(OpTable& table);
void define_pow(OpTable& table);
void define_reciprocal(OpTable& table);
void define_relu(OpTable& table);
void define_rsqrt(OpTable& table);
void define_sigmoid(OpTable& table);
void define_sign(OpTable& table);
void define_sin(OpTable& table);
void define_sqrt(OpTable& table);
void define_subtract(OpTable& table);
void define_tanh(OpTable& table);

namespace {

constexpr void (*kDefinitions[])(OpTable&) = {
    define_abs,      define_add,  define_clip, define_cos,        define_divide,   define_dropout,
    define_erf,      define_exp,  define_gelu, define_log,        define_maximum,  define_minimum,
    define_multiply, define_neg,  define_pow,  define_reciprocal, define_relu,     define_rsqrt,
    define_sigmoid,  define_sign, define_sin,  define_sqrt,       define_subtract, define_tanh};

/// More sources than any chain has: a typing error.
constexpr int64_t kMostSources = 1 << 16;

std::string operand_name(int src) { return src == kRunning ? "_" : "s" + std::to_string(src); }

/// "_" or "s0", "s1", …
int read_operand(graph::LineReader& reader) {
  const std::string word = reader.word();
  if (word == "_") return kRunning;
  int64_t number = -1;
  const char* end = word.data() + word.size();
  const bool is_number = word.starts_with('s') && std::from_chars(word.data() + 1, end, number).ptr == end;
  if (is_number && number >= 0 && number < kMostSources) return static_cast<int>(number);
  reader.fail("expected _, s0, s1, …, not " + quote(word));
  return kRunning;
}

ChainStep read_step(graph::LineReader& reader) {
  ChainStep step{.op = reader.word(), .srcs = {}};
  if (step.op == kKeep) return step;
  reader.list("(", ")", [&] { step.srcs.push_back(read_operand(reader)); });
  step.attributes = reader.attributes();
  return step;
}

/// Fills in the step's attributes, and checks that its op is known and reads the running value once.
Status complete_step(ChainStep& step) {
  if (step.op == kKeep) return {};
  const OpDef* def = chain_ops().find(step.op);
  if (def == nullptr) {
    std::vector<std::string> names{std::string(kKeep)};
    for (const auto& [name, unused] : chain_ops()) names.push_back(name);
    return invalid_argument("there is no step " + quote(step.op) + suggest(step.op, names));
  }
  if (step.srcs.size() != def->srcs.size() || std::ranges::count(step.srcs, kRunning) != 1)
    return invalid_argument("step " + step.op + " has " + std::to_string(step.srcs.size()) + " inputs; expected " +
                            std::to_string(def->srcs.size()) + ", one of them _");
  PLIMSOLL_ASSIGN(step.attributes, chain_ops().complete(*def, step.attributes));
  return {};
}

/// What goes into a step: the running value, or a source.
template <class T>
std::vector<T> inputs_of(const ChainStep& step, const T& running, std::span<const T> srcs) {
  std::vector<T> out;
  for (int src : step.srcs) out.push_back(src == kRunning ? running : srcs[static_cast<size_t>(src)]);
  return out;
}

Status check_step(const ChainStep& step, const TensorDesc& value, std::span<const TensorDesc> srcs) {
  for (int src : step.srcs)
    if (src != kRunning && !repeats_along_leading_axes(srcs[static_cast<size_t>(src)].shape, value.shape))
      return invalid_argument(operand_name(src) + " is " + to_string(srcs[static_cast<size_t>(src)]) +
                              "; expected one element or the last axes of " + to_string(value.shape));
  const std::vector<TensorDesc> inputs = inputs_of(step, value, srcs);
  PLIMSOLL_ASSIGN(const auto dsts, chain_ops().infer(chain_ops().at(step.op), inputs, step.attributes));
  if (dsts[0] == value) return {};
  return invalid_argument("step " + step.op + " makes " + to_string(dsts[0]) + " of " + to_string(value) +
                          "; expected the same shape and type");
}

}  // namespace

const OpTable& chain_ops() {
  static const OpTable kTable = [] {
    OpTable table;
    for (auto* define : kDefinitions) define(table);
    return table;
  }();
  return kTable;
}

size_t Chain::src_count() const {
  size_t count = 0;
  for (const ChainStep& step : steps)
    for (int src : step.srcs)
      if (src != kRunning) count = std::max(count, static_cast<size_t>(src) + 1);
  return count;
}

size_t Chain::kept_count() const { return static_cast<size_t>(std::ranges::count(steps, kKeep, &ChainStep::op)); }

bool Chain::has(std::string_view op) const { return std::ranges::count(steps, op, &ChainStep::op) > 0; }

std::string to_string(const Chain& chain) {
  std::string out;
  for (const ChainStep& step : chain.steps) {
    out += (out.empty() ? "" : " | ") + step.op;
    if (step.op == kKeep) continue;
    std::string operands;
    for (int src : step.srcs) operands += (operands.empty() ? "" : ", ") + operand_name(src);
    out += "(" + operands + ")";
    if (!step.attributes.empty()) out += " " + to_string(step.attributes);
  }
  return out;
}

Result<Chain> try_parse_chain(const std::string& op, const std::string& text) {
  Chain out;
  graph::LineReader reader(text);
  for (bool is_first = true; reader.ok() && !reader.at_end(); is_first = false) {
    if (!is_first) reader.expect("|");
    out.steps.push_back(read_step(reader));
  }
  if (!reader.ok()) return invalid_argument("[" + op + "] chain " + quote(text) + ": " + reader.fault());
  for (ChainStep& step : out.steps) {
    const Status status = complete_step(step);
    if (!status.ok()) return invalid_argument("[" + op + "] chain: " + status.error().message);
  }
  return out;
}

Chain chain_of(const Attributes& attributes) {
  return try_parse_chain("chain", attributes.get_string("chain")).value();
}

Status check_chain(const std::string& op, const Chain& chain, const TensorDesc& value,
                   std::span<const TensorDesc> srcs) {
  if (chain.src_count() != srcs.size())
    return invalid_argument("[" + op + "] chain reads " + std::to_string(chain.src_count()) +
                            " further inputs; given " + std::to_string(srcs.size()));
  for (const ChainStep& step : chain.steps) {
    if (step.op == kKeep) continue;
    const Status status = check_step(step, value, srcs);
    if (!status.ok()) return invalid_argument("[" + op + "] chain: " + status.error().message);
  }
  return {};
}

bool repeats_along_leading_axes(const Shape& src, const Shape& value) {
  if (src.rank() > value.rank()) return false;
  bool is_leading = false;  // counted from the last axis: whether only extents of 1 may come
  for (int axis = 1; axis <= src.rank(); ++axis) {
    const int64_t own = src.at(-axis), all = value.at(-axis);
    if (own != all && own != 1) return false;
    if (is_leading && own != 1) return false;
    is_leading = is_leading || own != all;
  }
  return true;
}

int64_t chain_flops(const Chain& chain, const TensorDesc& value, std::span<const TensorDesc> srcs) {
  int64_t out = 0;
  for (const ChainStep& step : chain.steps) {
    if (step.op == kKeep) continue;
    const std::vector<TensorDesc> inputs = inputs_of(step, value, srcs);
    out += cost_of(chain_ops().at(step.op), {inputs, {&value, 1}, step.attributes}).flops;
  }
  return out;
}

void evaluate_chain(const Chain& chain, Array& value, std::span<const Array> srcs, std::span<Array> kept) {
  size_t next_kept = 0;
  for (const ChainStep& step : chain.steps) {
    if (step.op == kKeep) {
      kept[next_kept++].data = value.data;
      continue;
    }
    const std::vector<Array> inputs = inputs_of(step, value, srcs);
    Array made(value.desc);
    chain_ops().at(step.op).evaluate(inputs, {&made, 1}, step.attributes);
    value = std::move(made);
  }
}

}  // namespace plimsoll::ops
