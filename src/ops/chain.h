#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/op_table.h"

namespace plimsoll::ops {

/// In place of a source's number: the running value.
inline constexpr int kRunning = -1;

/// One elementwise op of a chain, applied to the running value and further sources, or the mark `keep`.
struct ChainStep {
  std::string op;         ///< "keep": the running value is a further output, as it is here
  std::vector<int> srcs;  ///< by input of the op: number of the chain's further source, or kRunning (once)
  Attributes attributes = {};
  friend bool operator==(const ChainStep&, const ChainStep&) = default;
};

inline constexpr std::string_view kKeep = "keep";

/// A straight list of elementwise steps on one running value: what an op does to a value before it writes it.
///
/// As text, in the attribute `chain` of the ops that have one: `keep | gelu(_) {approximate="tanh"} | add(_, s0)` keeps
/// the value, applies gelu and adds the first further source. `_` is the running value, s0, s1, … are the further
/// sources; a step has the attributes of its op.
///
/// Shapes: the value keeps shape and type. A further source repeats along leading axes only: it has the value's last
/// axes, or one element. Randomness: a dropout step draws as the op `dropout` does, by the element's place in the
/// value.
struct Chain {
  std::vector<ChainStep> steps;

  /// How many further sources it reads: one more than the largest number.
  size_t src_count() const;
  /// How many further outputs it has.
  size_t kept_count() const;
  bool has(std::string_view op) const;
  friend bool operator==(const Chain&, const Chain&) = default;
};

/// The ops that may be steps, with their rules: those of one output that make each element from those at its place.
const OpTable& chain_ops();

std::string to_string(const Chain& chain);

/// The chain of this text, with every attribute; "" is the empty one. Errors: invalid_argument, beginning with "[op]
/// chain".
Result<Chain> try_parse_chain(const std::string& op, const std::string& text);

/// The chain of an attribute that has passed the op's shape rule.
Chain chain_of(const Attributes& attributes);

/// That every step accepts the running value and its further sources.
Status check_chain(const std::string& op, const Chain& chain, const TensorDesc& value,
                   std::span<const TensorDesc> srcs);

/// Whether element i of a value of shape `value` is made from element i mod n of a source of n elements.
bool repeats_along_leading_axes(const Shape& src, const Shape& value);

/// Arithmetic of all steps. Requires: check_chain accepts it.
int64_t chain_flops(const Chain& chain, const TensorDesc& value, std::span<const TensorDesc> srcs);

/// Applies the chain to `value` in f64, step after step; `kept` takes what is kept.
void evaluate_chain(const Chain& chain, Array& value, std::span<const Array> srcs, std::span<Array> kept);

}  // namespace plimsoll::ops
