#pragma once

#include <map>
#include <span>
#include <string>

#include "graph/graph.h"
#include "ops/builder.h"

namespace plimsoll::models {

/// How a parameter's elements are drawn before the first step.
struct Initializer {
  enum class Kind : uint8_t { kConstant, kNormal, kTruncatedNormal, kUniform };
  Kind kind = Kind::kConstant;
  double a = 0;  ///< the constant, the mean, or the least value
  double b = 0;  ///< unused, the standard deviation, or the upper end
  friend bool operator==(const Initializer&, const Initializer&) = default;
};

inline Initializer constant(double value) { return {Initializer::Kind::kConstant, value, 0}; }
inline Initializer normal(double stddev) { return {Initializer::Kind::kNormal, 0, stddev}; }
/// Normal, each element drawn anew until it is within two standard deviations.
inline Initializer truncated_normal(double stddev) { return {Initializer::Kind::kTruncatedNormal, 0, stddev}; }
inline Initializer uniform(double bound) { return {Initializer::Kind::kUniform, -bound, bound}; }

/// What a model knows of a parameter beside its shape.
struct ParameterInfo {
  Initializer initializer;
  bool decays = true;  ///< weight decay applies; false for norms and biases, as the published recipes have it
  friend bool operator==(const ParameterInfo&, const ParameterInfo&) = default;
};

/// A forward graph with what training it needs to know.
struct Model {
  std::string name;
  graph::Graph graph;
  graph::ValueId loss;  ///< the scalar to minimise; invalid for inference
  std::map<std::string, ParameterInfo> parameters;
  Status build_status;  ///< the first mistake of those who built it; Training::compile returns it

  /// The number of parameter elements; tied weights count once.
  int64_t parameter_count() const;
};

/// Fills a parameter's initial values: element i is a function of (seed, name, i) alone.
void initialize(std::span<float> values, int64_t first_element, const Initializer& initializer, std::string_view name,
                uint64_t seed);

/// What layers are built on: an op builder whose parameters come with their initialisation, and whose first mistake
/// stays with the model, so that it is told even where nobody asks `status`. Requires: the model outlives it.
class ModelBuilder : public ops::Builder {
 public:
  ModelBuilder(Model& model, const ops::OpTable& ops)
      : ops::Builder(model.graph, ops, model.build_status), model_(model) {}

  /// A trainable f32 parameter below the current scope.
  graph::ValueId weight(const std::string& name, Shape shape, Initializer initializer, bool decays = true);

  Model& model() { return model_; }

 private:
  Model& model_;
};

}  // namespace plimsoll::models
