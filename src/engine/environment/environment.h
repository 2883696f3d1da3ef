#pragma once

#include <memory>
#include <string>

#include "backends/api/backend.h"
#include "core/thread_pool.h"
#include "engine/environment/catalogue.h"
#include "ops/op_table.h"

namespace plimsoll::engine {

inline constexpr int kMostThreads = 1024;

/// What every program of a process shares: the ops, one thread pool, the backends and the kernels prepared so far.
class Environment {
 public:
  struct Options {
    int threads = 0;         ///< 0: as many as the process may use
    bool reference = false;  ///< run everything on the reference backend: slow, exact, for tests
    Rates rates{};
  };
  /// Errors: invalid_argument for threads outside 0..kMostThreads; unsupported without AVX2, but for the reference
  /// backend.
  static Result<std::unique_ptr<Environment>> make(const Options& options);

  const ops::OpTable& ops() const { return ops_; }
  ThreadPool& pool() { return pool_; }
  backends::Backend& backend() { return *backend_; }
  Catalogue& catalogue() { return *catalogue_; }
  /// That there are more threads than cores, which is legal and slow; mostly empty.
  const std::string& warning() const { return warning_; }

 private:
  Environment(int threads, bool reference, Rates rates);

  ops::OpTable ops_;
  ThreadPool pool_;
  std::unique_ptr<backends::Backend> reference_;
  std::unique_ptr<backends::Backend> cpu_;
  backends::Backend* backend_;
  std::unique_ptr<Catalogue> catalogue_;
  std::string warning_;
};

}  // namespace plimsoll::engine
