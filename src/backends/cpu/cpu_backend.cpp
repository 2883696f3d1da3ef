#include "backends/cpu/cpu_backend.h"

#include <cstring>

#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

/// Bytes per task of a copy or fill.
constexpr int64_t kCopyBytes = 1 << 20;

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(ThreadPool& pool)
      : context_{pool, hardware::probe_instruction_sets()}, table_(make_kernel_table()) {}

  DeviceDescription describe() const override {
    return {.kind = "cpu",
            .name = "cpu",
            .instruction_set = hardware::to_string(context_.instruction_sets),
            .threads = context_.pool.threads()};
  }

  Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel) override {
    const Prepare* prepare = table_.find(kernel.op);
    if (prepare == nullptr) return unsupported("[" + kernel.op + "] the cpu backend has no kernel");
    return (*prepare)(kernel, context_);
  }

  void copy(void* dst, const void* src, int64_t size_bytes) override {
    run(context_.pool, Cut(size_bytes, kCopyBytes), [&](Range range, int64_t) {
      std::memcpy(static_cast<char*>(dst) + range.begin, static_cast<const char*>(src) + range.begin,
                  static_cast<size_t>(range.size()));
    });
  }

  void zero(void* dst, int64_t size_bytes) override {
    run(context_.pool, Cut(size_bytes, kCopyBytes), [&](Range range, int64_t) {
      std::memset(static_cast<char*>(dst) + range.begin, 0, static_cast<size_t>(range.size()));
    });
  }

  ThreadPool& pool() override { return context_.pool; }

 private:
  CpuContext context_;
  KernelTable table_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(ThreadPool& pool) { return std::make_unique<CpuBackend>(pool); }

}  // namespace plimsoll::backends::cpu
