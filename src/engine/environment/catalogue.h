#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/api/backend.h"
#include "ops/op_table.h"

namespace plimsoll::engine {

/// What the machine does in a second, measured or from the hardware catalogue; durations in plans come from it.
struct Rates {
  double flops_per_s = 1e11;
  double bytes_per_s = 1e10;
};

/// All that tells one call from another: op, attributes, descriptions and what is added into.
std::string to_key(const program::Kernel& kernel);

/// The kernels of a session: each distinct call is prepared once, by the main backend or, where that refuses, by the
/// fallback, which is counted.
class Catalogue {
 public:
  Catalogue(const ops::OpTable& ops, backends::Backend& main, backends::Backend& fallback, Rates rates)
      : ops_(ops), main_(main), fallback_(fallback), rates_(rates) {}

  struct Entry {
    program::Kernel spec;  ///< with the workspace that the kernel asked for
    std::unique_ptr<backends::Kernel> kernel;
    ops::Cost cost;
    std::string refusal;  ///< why the fallback runs it; empty where the main backend does
  };

  /// Prepares a call unless it is known. Returns: its index, stable until `release_unused`, and as long as it is
  /// shared.
  Result<int> prepare(program::Kernel spec);

  const Entry& entry(int index) const { return *entries_[static_cast<size_t>(index)]; }
  /// The entry, kept from release for as long as the pointer lives.
  std::shared_ptr<const Entry> share(int index) const { return entries_[static_cast<size_t>(index)]; }
  /// Drops every kernel that nobody shares, so that programs of many shapes leave nothing behind.
  void release_unused();

  /// The number of kernels held.
  int size() const { return static_cast<int>(index_by_key_.size()); }
  /// How long the entry takes by its cost and the rates: what it computes or what it moves, whichever is longer.
  double duration_ns(int index) const;
  /// What durations are computed from.
  void set_rates(Rates rates) { rates_ = rates; }
  const Rates& rates() const { return rates_; }

 private:
  const ops::OpTable& ops_;
  backends::Backend& main_;
  backends::Backend& fallback_;
  Rates rates_;
  std::map<std::string, int> index_by_key_;
  std::vector<std::shared_ptr<const Entry>> entries_;  ///< null where one was released
  std::vector<int> released_;                          ///< their indices
};

}  // namespace plimsoll::engine
