#pragma once

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "backends/api/backend.h"

/// A backend for tests of what binds programs: kernels are whatever a test makes of them.
namespace plimsoll::runtime {

/// Calls a function for each launch.
class FakeKernel final : public backends::Kernel {
 public:
  using Launch = std::function<void(const backends::LaunchArgs&)>;
  explicit FakeKernel(Launch launch) : launch_(std::move(launch)) {}
  void launch(const backends::LaunchArgs& args) const override { launch_(args); }

 private:
  Launch launch_;
};

/// Copies and zeroes on the calling thread; prepares nothing.
class FakeBackend final : public backends::Backend {
 public:
  backends::DeviceDescription describe() const override { return {.kind = "fake"}; }
  Result<std::unique_ptr<backends::Kernel>> prepare(const program::Kernel& kernel) override {
    return unsupported("[fake] has no kernel for " + kernel.op);
  }
  void copy(void* dst, const void* src, int64_t size_bytes) override {
    std::memcpy(dst, src, static_cast<size_t>(size_bytes));
  }
  void zero(void* dst, int64_t size_bytes) override { std::memset(dst, 0, static_cast<size_t>(size_bytes)); }
  ThreadPool& pool() override { return pool_; }

 private:
  ThreadPool pool_{1};
};

inline const float* floats(const void* data) { return static_cast<const float*>(data); }
inline float* floats(void* data) { return static_cast<float*>(data); }

}  // namespace plimsoll::runtime
