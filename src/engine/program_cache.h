#pragma once

#include <list>
#include <memory>
#include <span>
#include <string>

#include "core/function_ref.h"
#include "engine/runner.h"

namespace plimsoll::engine {

/// How much a cache of programs may keep.
struct ProgramCacheLimits {
  int64_t count = 32;
  Bytes bytes{int64_t{16} << 20};  ///< of plans and kernels in RAM, as host_bytes counts them; book it in the budget
};

/// RAM that a compiled program takes beside its arena: plan, problem, names, kernels (shared ones too). An estimate
/// from sizes of what it holds.
Bytes host_bytes(const CompiledProgram& compiled);

/// Programs of many shapes in one arena, compiled when first asked for; those not used for longest go first, and with
/// them every kernel that no other program uses.
class ProgramCache {
 public:
  using MakeGraph = FunctionRef<Result<graph::Graph>()>;

  /// `lowering` says where state lies and where the step region begins; `arena` is shared by all programs.
  ///
  /// Requires: environment and the arena's bytes outlive the cache; limits.count >= 1.
  ProgramCache(Environment& environment, std::span<std::byte> arena, LowerOptions lowering, ProgramCacheLimits limits);

  /// The program known by `key`, or the one of the graph that `make_graph` makes.
  ///
  /// Returns: a runner that lives until the next call. The newest stays even where it alone is above the limits.
  /// Errors: infeasible where the program needs more than the arena; what compiling says.
  Result<Runner*> find_or_compile(const std::string& key, MakeGraph make_graph);

  int64_t count() const { return static_cast<int64_t>(entries_.size()); }
  Bytes bytes() const { return bytes_; }
  /// How often a program was compiled, those that were dropped and made again included.
  int64_t compilations() const { return compilations_; }

 private:
  struct Entry {
    std::string key;
    CompiledProgram compiled;
    Bytes bytes;
    std::unique_ptr<Runner> runner;
  };
  void drop_oldest();

  Environment& environment_;
  std::span<std::byte> arena_;
  LowerOptions lowering_;
  ProgramCacheLimits limits_;
  std::list<Entry> entries_;  ///< last used first
  Bytes bytes_;
  int64_t compilations_ = 0;
};

}  // namespace plimsoll::engine
