// Every sample of every op, on every backend, against the f64 evaluation of its OpDef.
#include <gtest/gtest.h>

#include <array>

#include "backends/cpu/cpu_backend.h"
#include "backends/reference/reference_backend.h"
#include "sample_run.h"

namespace plimsoll::conformance {
namespace {

const ops::OpTable& op_table() {
  static const ops::OpTable table = ops::make_op_table();
  return table;
}

std::vector<std::string> op_names() {
  std::vector<std::string> out;
  for (const auto& entry : op_table()) out.push_back(entry.first);
  return out;
}

/// The cpu backend on 1, 2, 3 and 8 threads.
std::array<std::unique_ptr<backends::Backend>, 4>& cpu_backends() {
  static std::array<ThreadPool, 4> pools{ThreadPool(1), ThreadPool(2), ThreadPool(3), ThreadPool(8)};
  static std::array<std::unique_ptr<backends::Backend>, 4> backends{
      backends::cpu::make_cpu_backend(pools[0]), backends::cpu::make_cpu_backend(pools[1]),
      backends::cpu::make_cpu_backend(pools[2]), backends::cpu::make_cpu_backend(pools[3])};
  return backends;
}

/// Calls body(run) for every sample, plain and accumulating, with its description in the trace.
template <class Body>
void for_samples(const std::string& op, const Body& body) {
  const ops::OpDef& def = op_table().at(op);
  for (const ops::Sample& sample : def.samples())
    for (const bool accumulates : {false, true}) {
      if (accumulates && def.accumulating_dsts.empty()) continue;
      const SampleRun run(op_table(), def, sample, accumulates);
      std::string trace = op + to_string(run.kernel().attributes) + (accumulates ? " accumulating" : "");
      for (const TensorDesc& desc : run.kernel().srcs) trace += " " + to_string(desc);
      SCOPED_TRACE(trace);
      body(run);
      if (testing::Test::HasFailure()) return;
    }
}

class EveryOp : public testing::TestWithParam<std::string> {};

TEST_P(EveryOp, ReferenceRoundsItsEvaluation) {
  ThreadPool pool(1);
  const auto backend = backends::reference::make_reference_backend(op_table(), pool);
  for_samples(GetParam(), [&](const SampleRun& run) {
    const auto kernel = backend->prepare(run.kernel());
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    run.expect_right(run.launch(**kernel));
  });
}

TEST_P(EveryOp, CpuIsRightAndSameForAnyThreads) {
  for_samples(GetParam(), [&](const SampleRun& run) {
    if (run.is_view()) return;
    const auto one = cpu_backends()[0]->prepare(run.kernel());
    ASSERT_TRUE(one.ok()) << one.error().message;
    const auto outputs = run.launch(**one);
    run.expect_right(outputs);
    for (const auto& backend : cpu_backends()) {
      const auto kernel = backend->prepare(run.kernel());
      ASSERT_TRUE(kernel.ok()) << kernel.error().message;
      EXPECT_EQ(run.launch(**kernel), outputs) << backend->describe().threads << " threads";
      EXPECT_LE((*kernel)->workspace_bytes(), run.workspace_bound()) << backend->describe().threads << " threads";
    }
    for (const ops::Alias& alias : run.in_place_aliases())
      EXPECT_EQ(run.launch(**one, alias), outputs) << "dst " << alias.dst << " in place of src " << alias.src;
  });
}

void expect_refused(backends::Backend& backend, const program::Kernel& kernel) {
  const auto prepared = backend.prepare(kernel);
  ASSERT_FALSE(prepared.ok()) << backend.describe().kind;
  EXPECT_EQ(prepared.error().code, ErrorCode::kUnsupported) << prepared.error().message;
}

/// A kernel that does not look at layouts would compute with elements in the wrong order.
TEST_P(EveryOp, LayoutsThatAreNotPlainAreRefused) {
  ThreadPool pool(1);
  const auto reference = backends::reference::make_reference_backend(op_table(), pool);
  const ops::OpDef& def = op_table().at(GetParam());
  const program::Kernel plain = SampleRun(op_table(), def, def.samples().front(), false).kernel();
  for (size_t i = 0; i < plain.srcs.size() + plain.dsts.size(); ++i) {
    SCOPED_TRACE("operand " + std::to_string(i));
    program::Kernel kernel = plain;
    TensorDesc& desc = i < plain.srcs.size() ? kernel.srcs[i] : kernel.dsts[i - plain.srcs.size()];
    desc.layout.is_permuted = true;
    for (int axis = 0; axis < desc.shape.rank(); ++axis)
      desc.layout.order[static_cast<size_t>(axis)] = static_cast<int8_t>(desc.shape.rank() - 1 - axis);
    expect_refused(*reference, kernel);
    expect_refused(*cpu_backends()[0], kernel);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, testing::ValuesIn(op_names()), [](const auto& op) { return op.param; });

}  // namespace
}  // namespace plimsoll::conformance
