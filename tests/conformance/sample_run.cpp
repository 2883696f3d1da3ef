#include "sample_run.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/reference/elements.h"
#include "fenced_buffer.h"
#include "ops/evaluate.h"

namespace plimsoll::conformance {
namespace {

using backends::reference::to_array;
using backends::reference::write_array;

/// The array as its dtype holds it.
ops::Array rounded(const ops::Array& array) {
  FencedBuffer buffer(array.desc.size_bytes());
  write_array(array, buffer.data());
  return to_array(array.desc, buffer.data());
}

bool is_close(double got, double want, const Tolerance& tolerance) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::abs(got - want) <= tolerance.absolute + tolerance.relative * std::abs(want);
}

}  // namespace

Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::kF32: return {.absolute = 2e-5, .relative = 2e-5};
    case DType::kBF16: return {.absolute = 1e-2, .relative = 8e-3};
    case DType::kF16: return {.absolute = 2e-3, .relative = 1e-3};
    case DType::kF64: return {.absolute = 1e-12, .relative = 1e-12};
    default: return {};  // whole numbers are exact
  }
}

SampleRun::SampleRun(const ops::OpTable& table, const ops::OpDef& def, const ops::Sample& sample, bool accumulates) {
  kernel_.op = def.name;
  for (size_t i = 0; i < sample.srcs.size(); ++i) {
    srcs_.push_back(rounded(ops::make_sample_array(sample.srcs[i], 17 + i)));
    kernel_.srcs.push_back(sample.srcs[i].desc);
  }
  kernel_.attributes = *table.complete(def, sample.attributes);
  kernel_.dsts = *table.infer(def, kernel_.srcs, kernel_.attributes);
  if (accumulates)
    for (int dst : def.accumulating_dsts)
      if (static_cast<size_t>(dst) < kernel_.dsts.size()) kernel_.accumulated_dsts.push_back(dst);
  const ops::OpCall call{kernel_.srcs, kernel_.dsts, kernel_.attributes};
  if (def.aliases) aliases_ = def.aliases(call);
  if (def.workspace_bound) workspace_bound_ = def.workspace_bound(call);

  for (const TensorDesc& desc : kernel_.dsts) wants_.emplace_back(desc);
  def.evaluate(srcs_, wants_, kernel_.attributes);
  for (int dst : kernel_.accumulated_dsts) {
    const auto i = static_cast<size_t>(dst);
    starts_.push_back(rounded(ops::make_sample_array({.desc = kernel_.dsts[i]}, 99 + i)));
    for (int64_t k = 0; k < wants_[i].numel(); ++k) wants_[i][k] += starts_.back()[k];
  }
}

std::vector<ops::Alias> SampleRun::aliases(ops::Alias::Kind kind) const {
  std::vector<ops::Alias> out;
  for (const ops::Alias& alias : aliases_)
    if (alias.kind == kind) out.push_back(alias);
  return out;
}

bool SampleRun::is_view() const { return !aliases(ops::Alias::Kind::kView).empty(); }

std::vector<ops::Alias> SampleRun::in_place_aliases() const { return aliases(ops::Alias::Kind::kInPlace); }

std::vector<std::vector<unsigned char>> SampleRun::launch(const backends::Kernel& prepared,
                                                          std::optional<ops::Alias> in_place) const {
  std::vector<FencedBuffer> srcs;
  std::vector<FencedBuffer> dsts;
  std::vector<const void*> src_pointers;
  std::vector<void*> dst_pointers;
  std::vector<bool> is_overwritten(srcs_.size());
  for (const ops::Array& array : srcs_) write_array(array, srcs.emplace_back(array.desc.size_bytes()).data());
  for (const TensorDesc& desc : kernel_.dsts) dsts.emplace_back(desc.size_bytes());
  for (FencedBuffer& buffer : srcs) src_pointers.push_back(buffer.data());
  for (FencedBuffer& buffer : dsts) dst_pointers.push_back(buffer.data());
  for (size_t i = 0; i < starts_.size(); ++i)
    write_array(starts_[i], dst_pointers[static_cast<size_t>(kernel_.accumulated_dsts[i])]);

  std::vector<ops::Alias> shared = aliases(ops::Alias::Kind::kUpdate);
  if (in_place) shared.push_back(*in_place);
  for (const ops::Alias& alias : shared) {
    dst_pointers[static_cast<size_t>(alias.dst)] = srcs[static_cast<size_t>(alias.src)].data();
    is_overwritten[static_cast<size_t>(alias.src)] = true;
  }
  FencedBuffer workspace(prepared.workspace_bytes());
  std::vector<std::vector<unsigned char>> before;
  for (FencedBuffer& buffer : srcs) before.push_back(buffer.bytes());

  prepared.launch({src_pointers, dst_pointers, workspace.data()});

  EXPECT_TRUE(workspace.fences_hold()) << "workspace";
  for (size_t i = 0; i < srcs.size(); ++i) {
    EXPECT_TRUE(srcs[i].fences_hold()) << "src " << i;
    EXPECT_TRUE(is_overwritten[i] || srcs[i].bytes() == before[i]) << "src " << i << " was changed";
  }
  std::vector<std::vector<unsigned char>> out;
  for (size_t i = 0; i < dsts.size(); ++i) {
    EXPECT_TRUE(dsts[i].fences_hold()) << "dst " << i;
    const auto* begin = static_cast<const unsigned char*>(dst_pointers[i]);
    out.emplace_back(begin, begin + kernel_.dsts[i].size_bytes());
  }
  return out;
}

void SampleRun::expect_right(const std::vector<std::vector<unsigned char>>& outputs) const {
  for (size_t i = 0; i < wants_.size(); ++i) {
    const ops::Array got = to_array(kernel_.dsts[i], outputs[i].data());
    const Tolerance tolerance = tolerance_of(kernel_.dsts[i].dtype);
    const ops::Array want = rounded(wants_[i]);
    for (int64_t k = 0; k < want.numel(); ++k) {
      if (is_close(got[k], want[k], tolerance)) continue;
      ADD_FAILURE() << "dst " << i << " " << to_string(kernel_.dsts[i]) << " element " << k << " is " << got[k]
                    << ", the reference says " << want[k];
      break;
    }
  }
}

}  // namespace plimsoll::conformance
