#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/api/backend.h"
#include "hardware/instruction_sets.h"

namespace plimsoll::backends::cpu {

/// What a kernel may know about where it runs. The pool outlives every kernel.
struct CpuContext {
  ThreadPool& pool;
  hardware::InstructionSets instruction_sets;
};

/// Decides everything about one kernel, or says why there is none (unsupported).
using Prepare =
    std::function<Result<std::unique_ptr<Kernel>>(const program::Kernel& kernel, const CpuContext& context)>;

/// The prepare functions by op name. Made once by `make_kernel_table`, then only read.
class KernelTable {
 public:
  /// Requires: the op has no kernel yet.
  void add(std::string op, Prepare prepare);
  /// The op's prepare function, or nullptr.
  const Prepare* find(std::string_view op) const;
  /// The ops that have a kernel, in the order of names.
  std::vector<std::string> ops() const;

 private:
  std::map<std::string, Prepare, std::less<>> prepares_;
};

/// The table with every kernel of kernels/; the list of calls is generated from the file names.
KernelTable make_kernel_table();

/// A kernel made from a callable `void(const LaunchArgs&) const` that owns all that was decided.
template <class Launch>
class CallableKernel final : public Kernel {
 public:
  CallableKernel(Launch launch, int64_t workspace_bytes)
      : launch_(std::move(launch)), workspace_bytes_(workspace_bytes) {}
  int64_t workspace_bytes() const override { return workspace_bytes_; }
  void launch(const LaunchArgs& args) const override { launch_(args); }

 private:
  Launch launch_;
  int64_t workspace_bytes_;
};

template <class Launch>
std::unique_ptr<Kernel> make_kernel(Launch launch, int64_t workspace_bytes = 0) {
  return std::make_unique<CallableKernel<Launch>>(std::move(launch), workspace_bytes);
}

/// True where destination `dst` adds into what it holds.
bool accumulates(const program::Kernel& kernel, int dst);

/// Refuses (unsupported) a kernel with an operand that is not plain. Every prepare calls this or check_plain_f32.
Status check_plain(const program::Kernel& kernel);

/// Refuses (unsupported) a kernel with an operand that is not f32 in the plain layout, except the sources in `others`.
Status check_plain_f32(const program::Kernel& kernel, std::initializer_list<size_t> others = {});

/// Pointers of one launch as the type that prepare has checked.
template <class T>
const T* src(const LaunchArgs& args, size_t index) {
  return static_cast<const T*>(args.srcs[index]);
}
template <class T>
T* dst(const LaunchArgs& args, size_t index) {
  return static_cast<T*>(args.dsts[index]);
}

}  // namespace plimsoll::backends::cpu
