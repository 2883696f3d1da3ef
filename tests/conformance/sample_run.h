#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/api/backend.h"
#include "ops/op_table.h"

namespace plimsoll::conformance {

/// How far a backend may be from the f64 reference: |got - want| <= absolute + relative · |want|.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};
Tolerance tolerance_of(DType dtype);

/// One sample of one op, ready to run on any backend: the kernel, its inputs in their dtypes, and what must come out.
class SampleRun {
 public:
  /// With `accumulates`, every output that can add into what it holds does.
  SampleRun(const ops::OpTable& table, const ops::OpDef& def, const ops::Sample& sample, bool accumulates);

  const program::Kernel& kernel() const { return kernel_; }
  /// What the op says about scratch, in bytes.
  int64_t workspace_bound() const { return workspace_bound_; }
  /// True where some output is the same bytes as an input, so that no kernel runs.
  bool is_view() const;
  /// The ways in which an output may overwrite an input.
  std::vector<ops::Alias> in_place_aliases() const;

  /// Outputs' bytes after one launch, with poisoned outputs and workspace; `in_place`: that output overwrites that
  /// input. Fails the current test where a fence is broken or an input is changed that may not be.
  std::vector<std::vector<unsigned char>> launch(const backends::Kernel& prepared,
                                                 std::optional<ops::Alias> in_place = {}) const;

  /// Fails the current test where outputs are further from the reference than their dtype's tolerance.
  void expect_right(const std::vector<std::vector<unsigned char>>& outputs) const;

 private:
  std::vector<ops::Alias> aliases(ops::Alias::Kind kind) const;

  program::Kernel kernel_;
  int64_t workspace_bound_ = 0;
  std::vector<ops::Alias> aliases_;
  std::vector<ops::Array> srcs_;
  std::vector<ops::Array> starts_;  ///< what accumulating outputs hold before
  std::vector<ops::Array> wants_;
};

}  // namespace plimsoll::conformance
