#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/attributes.h"
#include "core/result.h"
#include "core/tensor_desc.h"
#include "ops/array.h"

namespace plimsoll::ops {

class GradientContext;

/// One use of an op: what goes in and out, and with which (complete) attributes. Accumulators are not among `srcs`.
struct OpCall {
  std::span<const TensorDesc> srcs;
  std::span<const TensorDesc> dsts;  ///< empty while shapes are being inferred
  const Attributes& attributes;
};

/// What an op costs on any device: arithmetic, and bytes that must move at the least.
struct Cost {
  int64_t flops = 0;
  int64_t bytes = 0;
};

/// How an output may share storage with an input.
struct Alias {
  enum class Kind : uint8_t {
    kInPlace,  ///< may overwrite it, element by element, if nobody reads the input later
    kView,     ///< is the same bytes, from `offset_bytes` on: no kernel runs at all
    kUpdate    ///< must overwrite it: the next version of the same state
  };
  int dst = 0;
  int src = 0;
  Kind kind = Kind::kInPlace;
  int64_t offset_bytes = 0;
  friend bool operator==(const Alias&, const Alias&) = default;
};

/// An output axis along which the op can be run in pieces that give exactly the whole: piece [a, b) of the axis needs
/// [a, b) of the named axis of each input, or all of an input whose axis is -1.
struct ChunkableAxis {
  int dst_axis = 0;
  std::vector<int> src_axes;
  friend bool operator==(const ChunkableAxis&, const ChunkableAxis&) = default;
};

/// An attribute that an op accepts.
struct AttributeDef {
  std::string name;
  std::optional<Attribute> default_value;  ///< none: required, and `example` gives its type
  std::vector<std::string> allowed = {};   ///< for strings: the only values
  std::string doc = {};
  Attribute example = int64_t{0};  ///< read only where there is no default
};

/// Input data for a sample: uniform in [low, high), whole numbers where `is_integer`, or exactly `values`.
struct SampleSrc {
  TensorDesc desc;
  double low = -1;
  double high = 1;
  bool is_integer = false;
  std::vector<double> values = {};
};

/// One case that every backend must compute like the reference, and whose gradients are checked by differences.
struct Sample {
  std::vector<SampleSrc> srcs;
  Attributes attributes = {};
  bool has_gradient = true;  ///< false where the sample stands at a kink, or is too large for finite differences
};

/// Everything the project knows about an op; made in the one file that is named after it.
struct OpDef {
  std::string name;
  std::string doc;                ///< one line for the op table
  std::vector<std::string> srcs;  ///< names of inputs, for messages and docs
  std::vector<std::string> dsts;
  size_t optional_srcs = 0;  ///< so many of the last inputs may be left out
  bool is_variadic = false;  ///< the last input may repeat
  std::vector<AttributeDef> attributes = {};

  /// Shape and dtype rule: the outputs' descriptions, or why there are none. `call.dsts` is empty.
  std::function<Result<std::vector<TensorDesc>>(const OpCall& call)> infer;
  /// Adds backward nodes and names the inputs' gradients. Empty: not differentiable.
  std::function<void(GradientContext& context)> gradient = {};
  /// Floating inputs that are given, not learned, such as 1 / valid tokens: the rule has no gradient for them.
  std::vector<int> given_srcs = {};
  /// Outputs that the forward pass leaves for the backward pass alone, such as the statistics of a norm: no gradient
  /// flows through them, and of finite inputs they may be -inf, the log of an empty sum.
  std::vector<int> saved_dsts = {};
  /// Empty: no arithmetic, and all inputs and outputs move once.
  std::function<Cost(const OpCall& call)> cost = {};
  /// The most scratch that any backend may ask for, in bytes, on any number of threads. Empty: none.
  std::function<int64_t(const OpCall& call)> workspace_bound = {};
  std::function<std::vector<Alias>(const OpCall& call)> aliases = {};
  std::function<std::vector<ChunkableAxis>(const OpCall& call)> chunkable = {};
  /// Outputs that can add into a buffer instead of overwriting it.
  std::vector<int> accumulating_dsts = {};
  /// The oracle: plain loops in f64. `dsts` come with the right sizes, filled with zeros.
  std::function<void(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes)> evaluate;
  std::function<std::vector<Sample>()> samples;
};

}  // namespace plimsoll::ops
