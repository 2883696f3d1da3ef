// What must hold for every op, tried on all of its samples, and that no description of inputs makes a shape rule fail
// otherwise than by a message.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/philox.h"
#include "ops/evaluate.h"
#include "ops/op_table.h"

namespace plimsoll::ops {
namespace {

const OpTable& table() {
  static const OpTable kTable = make_op_table();
  return kTable;
}

/// A sample with its attributes complete, its data and its results.
struct Case {
  std::string label;
  Attributes attributes;
  std::vector<TensorDesc> src_descs;
  std::vector<TensorDesc> dst_descs;
  std::vector<Array> srcs;
  std::vector<Array> dsts;
  OpCall call() const { return {src_descs, dst_descs, attributes}; }
};

Case make_case(const OpDef& def, const Sample& sample) {
  Case out;
  out.label = def.name + to_string(sample.attributes);
  for (size_t i = 0; i < sample.srcs.size(); ++i) {
    out.src_descs.push_back(sample.srcs[i].desc);
    out.srcs.push_back(make_sample_array(sample.srcs[i], i + 1));
    out.label += " " + to_string(sample.srcs[i].desc);
  }
  const auto attributes = table().complete(def, sample.attributes);
  EXPECT_TRUE(attributes.ok()) << out.label << ": " << attributes.error().message;
  if (!attributes.ok()) return out;
  out.attributes = *attributes;
  const auto dsts = table().infer(def, out.src_descs, out.attributes);
  EXPECT_TRUE(dsts.ok()) << out.label << ": " << dsts.error().message;
  if (!dsts.ok()) return out;
  out.dst_descs = *dsts;
  for (const TensorDesc& dst : *dsts) out.dsts.emplace_back(dst);
  def.evaluate(out.srcs, out.dsts, out.attributes);
  return out;
}

std::vector<std::string> op_names() {
  std::vector<std::string> out;
  for (const auto& [name, def] : table()) out.push_back(name);
  return out;
}

class EveryOp : public testing::TestWithParam<std::string> {
 protected:
  const OpDef& def() const { return table().at(GetParam()); }
  std::vector<Case> cases() const {
    std::vector<Case> out;
    for (const Sample& sample : def().samples()) out.push_back(make_case(def(), sample));
    return out;
  }
};

INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, testing::ValuesIn(op_names()), [](const auto& test) { return test.param; });

TEST_P(EveryOp, HasADocLineAndSamples) {
  EXPECT_FALSE(def().doc.empty());
  EXPECT_EQ(def().doc.find('\n'), std::string::npos);
  EXPECT_FALSE(def().samples().empty());
}

TEST_P(EveryOp, SamplesCoverEveryAllowedValue) {
  for (const AttributeDef& attribute : def().attributes)
    for (const std::string& value : attribute.allowed) {
      bool is_covered = false;
      for (const Case& c : cases()) is_covered = is_covered || c.attributes.get_string(attribute.name) == value;
      EXPECT_TRUE(is_covered) << attribute.name << " = " << value;
    }
}

bool is_finite(const Array& array) {
  return std::all_of(array.data.begin(), array.data.end(), [](double x) { return std::isfinite(x); });
}

TEST_P(EveryOp, EvaluatesToResultsOfTheInferredSizeFiniteFromFiniteInputs) {
  for (const Case& c : cases())
    for (size_t i = 0; i < c.dsts.size(); ++i) {
      ASSERT_EQ(c.dsts[i].numel(), c.dst_descs[i].numel()) << c.label;
      if (!std::all_of(c.srcs.begin(), c.srcs.end(), is_finite)) continue;
      const bool may_be_empty_log = std::ranges::find(def().saved_dsts, static_cast<int>(i)) != def().saved_dsts.end();
      for (const double x : c.dsts[i].data)
        ASSERT_TRUE(std::isfinite(x) || (may_be_empty_log && x < 0)) << c.label << " output " << i << " has " << x;
    }
}

TEST_P(EveryOp, GivenInputsAndSavedOutputsAreThoseOfADifferentiableOp) {
  for (const int src : def().given_srcs) EXPECT_LT(static_cast<size_t>(src), def().srcs.size());
  for (const int dst : def().saved_dsts) EXPECT_LT(static_cast<size_t>(dst), def().dsts.size());
  EXPECT_TRUE(def().gradient || (def().given_srcs.empty() && def().saved_dsts.empty()));
}

TEST_P(EveryOp, CostsAndWorkspaceAreNotNegative) {
  for (const Case& c : cases()) {
    const Cost cost = cost_of(def(), c.call());
    EXPECT_GE(cost.flops, 0) << c.label;
    EXPECT_GE(cost.bytes, 0) << c.label;
    if (def().workspace_bound) {
      EXPECT_GE(def().workspace_bound(c.call()), 0) << c.label;
    }
  }
}

void check_alias(const Case& c, const Alias& alias) {
  ASSERT_TRUE(alias.dst >= 0 && static_cast<size_t>(alias.dst) < c.dsts.size()) << c.label;
  ASSERT_TRUE(alias.src >= 0 && static_cast<size_t>(alias.src) < c.srcs.size()) << c.label;
  const Array& src = c.srcs[static_cast<size_t>(alias.src)];
  const Array& dst = c.dsts[static_cast<size_t>(alias.dst)];
  if (alias.kind != Alias::Kind::kView) {
    EXPECT_EQ(src.desc.size_bytes(), dst.desc.size_bytes()) << c.label;
    return;
  }
  const int64_t first = alias.offset_bytes / size_bytes(src.desc.dtype);
  EXPECT_EQ(src.desc.dtype, dst.desc.dtype) << c.label;
  ASSERT_LE(first + dst.numel(), src.numel()) << c.label;
  for (int64_t i = 0; i < dst.numel(); ++i) ASSERT_EQ(dst[i], src[first + i]) << c.label;
}

TEST_P(EveryOp, AliasesAreOfEqualSizeAndViewsAreTheSameElements) {
  if (!def().aliases) return;
  for (const Case& c : cases())
    for (const Alias& alias : def().aliases(c.call())) check_alias(c, alias);
}

TEST_P(EveryOp, AccumulatingOutputsAreFloating) {
  for (const Case& c : cases())
    for (const int dst : def().accumulating_dsts)
      if (static_cast<size_t>(dst) < c.dst_descs.size()) {
        EXPECT_TRUE(is_floating(c.dst_descs[static_cast<size_t>(dst)].dtype)) << c.label;
      }
}

/// Elements [first, last) of `whole` along `axis`.
Array cut(const Array& whole, int axis, int64_t first, int64_t last) {
  TensorDesc desc = whole.desc;
  desc.shape[axis] = last - first;
  Array out(desc);
  const int64_t inner = desc.shape.numel_between(axis + 1, desc.shape.rank());
  const int64_t row = (last - first) * inner, stride = whole.desc.shape[axis] * inner;
  for (int64_t i = 0; i < out.numel(); ++i) out[i] = whole[i / row * stride + first * inner + i % row];
  return out;
}

bool are_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Runs the op on the piece [first, last) of the axis with the same attributes, and compares with that of the whole.
void check_piece(const OpDef& def, const Case& whole, const ChunkableAxis& chunk, int64_t first, int64_t last) {
  std::vector<Array> srcs;
  std::vector<TensorDesc> descs;
  for (size_t i = 0; i < whole.srcs.size(); ++i) {
    const int axis = chunk.src_axes[i];
    srcs.push_back(axis < 0 ? whole.srcs[i] : cut(whole.srcs[i], axis, first, last));
    descs.push_back(srcs.back().desc);
  }
  const auto dst_descs = table().infer(def, descs, whole.attributes);
  ASSERT_TRUE(dst_descs.ok()) << whole.label << ": " << dst_descs.error().message;
  std::vector<Array> dsts(dst_descs->begin(), dst_descs->end());
  def.evaluate(srcs, dsts, whole.attributes);
  for (size_t i = 0; i < dsts.size(); ++i) {
    const Array expected = cut(whole.dsts[i], chunk.dst_axis, first, last);
    ASSERT_EQ(dsts[i].desc, expected.desc) << whole.label;
    ASSERT_TRUE(std::equal(dsts[i].data.begin(), dsts[i].data.end(), expected.data.begin(), are_same))
        << whole.label << " axis " << chunk.dst_axis;
  }
}

TEST_P(EveryOp, PiecesAlongChunkableAxesGiveTheWhole) {
  if (!def().chunkable) return;
  for (const Case& c : cases())
    for (const ChunkableAxis& chunk : def().chunkable(c.call())) {
      ASSERT_EQ(chunk.src_axes.size(), c.srcs.size()) << c.label;
      const int64_t extent = c.dst_descs[0].shape[chunk.dst_axis];
      if (extent < 2) continue;
      const int64_t middle = (extent + 2) / 3;
      check_piece(def(), c, chunk, 0, middle);
      check_piece(def(), c, chunk, middle, extent);
    }
}

/// Random choices that a printed seed repeats.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  uint32_t below(size_t count) { return random_(count_++, 0)[0] % static_cast<uint32_t>(count); }
  template <class T>
  const T& pick(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  Philox random_;
  uint64_t count_ = 0;
};

const std::vector<int64_t>& strange_sizes() {
  static const std::vector<int64_t> kSizes{0,  1,  2, 3, 5, 7, 17, int64_t{1} << 20, int64_t{1} << 31, int64_t{1} << 62,
                                           -1, -2, 4, 8};
  return kSizes;
}

TensorDesc strange_desc(Dice& dice, TensorDesc desc) {
  static const std::vector<DType> kTypes{DType::kF32, DType::kBF16, DType::kI32, DType::kI64, DType::kBool};
  if (dice.below(4) == 0) desc.dtype = dice.pick(kTypes);
  if (dice.below(3) == 0 && desc.shape.rank() > 0)
    desc.shape[static_cast<int>(dice.below(static_cast<size_t>(desc.shape.rank())))] = dice.pick(strange_sizes());
  if (dice.below(6) == 0 && desc.shape.rank() < Shape::kMaxRank) desc.shape.push_back(dice.pick(strange_sizes()));
  if (dice.below(8) == 0) {
    desc.shape = {};
    for (uint32_t rank = dice.below(Shape::kMaxRank + 1); rank > 0; --rank)
      desc.shape.push_back(dice.pick(strange_sizes()));
  }
  return desc;
}

Attribute strange_attribute(Dice& dice, const Attribute& value) {
  if (std::holds_alternative<bool>(value)) return dice.below(2) == 0;
  if (std::holds_alternative<int64_t>(value)) return dice.pick(strange_sizes());
  if (std::holds_alternative<double>(value))
    return dice.pick(std::vector<double>{0, -1, 0.5, 1e30, -INFINITY, std::nan("")});
  if (std::holds_alternative<std::string>(value))
    return dice.pick(std::vector<std::string>{"", "f32", "i64", "bool", "none", "eq"});
  auto list = std::get<std::vector<int64_t>>(value);
  if (!list.empty() && dice.below(2) == 0) list[dice.below(list.size())] = dice.pick(strange_sizes());
  if (dice.below(3) == 0) list.push_back(dice.pick(strange_sizes()));
  if (dice.below(8) == 0) list.assign(12, 1);
  return list;
}

TEST_P(EveryOp, StrangeInputsAreInferredOrRefusedByName) {
  const std::vector<Sample> samples = def().samples();
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Dice dice(seed);
    const Sample& sample = dice.pick(samples);
    std::vector<TensorDesc> srcs;
    for (const SampleSrc& src : sample.srcs) srcs.push_back(strange_desc(dice, src.desc));
    Attributes attributes = sample.attributes;
    for (const auto& [name, value] : sample.attributes)
      if (dice.below(3) == 0) attributes.set(name, strange_attribute(dice, value));
    const auto complete = table().complete(def(), attributes);
    if (!complete.ok()) continue;
    const auto dsts = table().infer(def(), srcs, *complete);
    if (dsts.ok()) continue;
    EXPECT_EQ(dsts.error().message.rfind("[" + def().name + "] ", 0), 0)
        << "seed " << seed << ": " << dsts.error().message;
  }
}

}  // namespace
}  // namespace plimsoll::ops
