#include "models/model.h"

#include <array>
#include <cmath>
#include <limits>

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

/// Draws from the standard normal. One block of words gives four elements theirs, so it is made for all of them.
class Normals {
 public:
  explicit Normals(const Philox& random) : random_(random) {}

  double draw(uint64_t element) {
    if (element / 4 != block_) {
      block_ = element / 4;
      four_ = make(block_, 0);
    }
    return static_cast<double>(four_[element % 4]);
  }

  /// Another try gives another block.
  double draw_truncated(uint64_t element) {
    constexpr double kMostDeviations = 2;
    double drawn = draw(element);
    for (uint64_t attempt = 1; std::abs(drawn) > kMostDeviations; ++attempt)
      drawn = static_cast<double>(make(element / 4, attempt)[element % 4]);
    return drawn;
  }

 private:
  std::array<float, 4> make(uint64_t block, uint64_t attempt) const {
    const Philox::Block words = random_(block, attempt);
    const std::array<float, 2> a = to_normals(words[0], words[1]), b = to_normals(words[2], words[3]);
    return {a[0], a[1], b[0], b[1]};
  }

  const Philox& random_;
  uint64_t block_ = std::numeric_limits<uint64_t>::max();  // beyond any element's
  std::array<float, 4> four_{};
};

}  // namespace

void initialize(std::span<float> values, int64_t first_element, const Initializer& initializer, std::string_view name,
                uint64_t seed) {
  const Philox random(seed ^ stable_hash(name));
  Normals normals(random);
  const double a = initializer.a, b = initializer.b;
  const auto fill = [&](auto draw) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(draw(static_cast<uint64_t>(first_element) + i));
  };
  switch (initializer.kind) {
    case Initializer::Kind::kConstant: fill([&](uint64_t) { return a; }); break;
    case Initializer::Kind::kNormal: fill([&](uint64_t at) { return a + b * normals.draw(at); }); break;
    case Initializer::Kind::kTruncatedNormal:
      fill([&](uint64_t at) { return a + b * normals.draw_truncated(at); });
      break;
    case Initializer::Kind::kUniform:
      fill([&](uint64_t at) { return a + (b - a) * static_cast<double>(to_unit_float(random(at / 4, 0)[at % 4])); });
      break;
  }
}

graph::ValueId ModelBuilder::weight(const std::string& name, Shape shape, Initializer initializer, bool decays) {
  const graph::ValueId id = parameter(name, {DType::kF32, shape, {}});
  if (id.is_valid()) model_.parameters[target().value(id).name] = {initializer, decays};
  return id;
}

}  // namespace plimsoll::models
