#include "models/model.h"

#include <cmath>

#include "core/hash.h"
#include "core/philox.h"

namespace plimsoll::models {

int64_t Model::parameter_count() const {
  int64_t count = 0;
  for (const graph::Value& value : graph.values())
    if (value.kind == graph::ValueKind::kParameter) count += value.desc.numel();
  return count;
}

namespace {

/// A draw from the standard normal; one block gives four elements theirs. Another try gives another block.
double standard_normal(const Philox& random, uint64_t element, uint64_t attempt) {
  const Philox::Block words = random(element / 4, attempt);
  const size_t pair = element % 4 / 2;
  return static_cast<double>(to_normals(words[2 * pair], words[2 * pair + 1])[element % 2]);
}

double standard_truncated_normal(const Philox& random, uint64_t element) {
  constexpr double kMostDeviations = 2;
  for (uint64_t attempt = 0;; ++attempt) {
    const double drawn = standard_normal(random, element, attempt);
    if (std::abs(drawn) <= kMostDeviations) return drawn;
  }
}

}  // namespace

void initialize(std::span<float> values, int64_t first_element, const Initializer& initializer, std::string_view name,
                uint64_t seed) {
  const Philox random(seed ^ stable_hash(name));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto element = static_cast<uint64_t>(first_element) + i;
    switch (initializer.kind) {
      case Initializer::Kind::kConstant: values[i] = static_cast<float>(initializer.a); break;
      case Initializer::Kind::kNormal:
        values[i] = static_cast<float>(initializer.a + initializer.b * standard_normal(random, element, 0));
        break;
      case Initializer::Kind::kTruncatedNormal:
        values[i] = static_cast<float>(initializer.a + initializer.b * standard_truncated_normal(random, element));
        break;
      case Initializer::Kind::kUniform: {
        const double unit = static_cast<double>(to_unit_float(random(element / 4, 0)[element % 4]));
        values[i] = static_cast<float>(initializer.a + (initializer.b - initializer.a) * unit);
        break;
      }
    }
  }
}

graph::ValueId ModelBuilder::weight(const std::string& name, Shape shape, Initializer initializer, bool decays) {
  const graph::ValueId id = parameter(name, {DType::kF32, shape, {}});
  if (id.is_valid()) model_.parameters[target().value(id).name] = {initializer, decays};
  return id;
}

}  // namespace plimsoll::models
