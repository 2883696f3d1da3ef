#include "backends/reference/reference_backend.h"

#include <cstring>

#include "backends/reference/elements.h"

namespace plimsoll::backends::reference {
namespace {

class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(const ops::OpDef& def, program::Kernel kernel) : def_(def), kernel_(std::move(kernel)) {}

  void launch(const LaunchArgs& args) const override {
    std::vector<ops::Array> srcs;
    for (size_t i = 0; i < kernel_.srcs.size(); ++i) srcs.push_back(to_array(kernel_.srcs[i], args.srcs[i]));
    std::vector<ops::Array> dsts(kernel_.dsts.begin(), kernel_.dsts.end());
    def_.evaluate(srcs, dsts, kernel_.attributes);
    for (int index : kernel_.accumulated_dsts) {
      const auto i = static_cast<size_t>(index);
      const ops::Array accumulator = to_array(kernel_.dsts[i], args.dsts[i]);
      for (int64_t k = 0; k < accumulator.numel(); ++k) dsts[i][k] += accumulator[k];
    }
    for (size_t i = 0; i < dsts.size(); ++i) write_array(dsts[i], args.dsts[i]);
  }

 private:
  const ops::OpDef& def_;
  program::Kernel kernel_;
};

class ReferenceBackend final : public Backend {
 public:
  ReferenceBackend(const ops::OpTable& ops, ThreadPool& pool) : ops_(ops), pool_(pool) {}

  DeviceDescription describe() const override {
    return {.kind = "reference", .name = "plain loops in f64", .instruction_set = "scalar", .threads = 1};
  }

  Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel) override {
    const ops::OpDef* def = ops_.find(kernel.op);
    if (def == nullptr) return unsupported("[" + kernel.op + "] there is no such op");
    for (const auto* descs : {&kernel.srcs, &kernel.dsts})
      for (const TensorDesc& desc : *descs)
        if (!desc.layout.is_plain())
          return unsupported("[" + kernel.op + "] " + to_string(desc) + ": the reference takes plain layouts only");
    return std::unique_ptr<Kernel>(std::make_unique<ReferenceKernel>(*def, kernel));
  }

  void copy(void* dst, const void* src, int64_t size_bytes) override {
    std::memcpy(dst, src, static_cast<size_t>(size_bytes));
  }
  void zero(void* dst, int64_t size_bytes) override { std::memset(dst, 0, static_cast<size_t>(size_bytes)); }
  ThreadPool& pool() override { return pool_; }

 private:
  const ops::OpTable& ops_;
  ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend(const ops::OpTable& ops, ThreadPool& pool) {
  return std::make_unique<ReferenceBackend>(ops, pool);
}

}  // namespace plimsoll::backends::reference
