#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/result.h"
#include "core/thread_pool.h"
#include "program/program.h"

namespace plimsoll::backends {

/// Pointers for one launch. Absent: `workspace` where the kernel asked for none.
struct LaunchArgs {
  std::span<const void* const> srcs;
  std::span<void* const> dsts;  ///< hold the accumulators on entry where the kernel accumulates
  void* workspace = nullptr;    ///< 64-byte aligned, of workspace_bytes()
};

/// A kernel with everything decided: shapes, instruction set, cut into tasks.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Scratch that `launch` needs, in bytes; known before any memory is planned.
  virtual int64_t workspace_bytes() const { return 0; }
  /// Runs to its end on the backend's thread pool. Allocates nothing of our own. Order: results never depend on the
  /// number of threads.
  virtual void launch(const LaunchArgs& args) const = 0;
};

struct DeviceDescription {
  std::string kind;  ///< "cpu", "reference", …
  std::string name;  ///< of the processor
  std::string instruction_set;
  int threads = 1;
};

/// What every backend implements, and no more.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual DeviceDescription describe() const = 0;
  /// A kernel, or the reason why this backend has none (unsupported).
  virtual Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel) = 0;
  virtual void copy(void* dst, const void* src, int64_t size_bytes) = 0;
  virtual void zero(void* dst, int64_t size_bytes) = 0;
  virtual ThreadPool& pool() = 0;
};

}  // namespace plimsoll::backends
