#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "program/sample_programs.h"
#include "report/chrome_trace.h"
#include "report/memory_timeline.h"

namespace plimsoll::report {
namespace {

using program::samples::microbatches;
using program::samples::single_segment;
using program::samples::streamed;

int64_t bytes_of(const CategoryBytes& bytes, Category category) { return bytes[static_cast<size_t>(category)]; }

TEST(MemoryTimeline, CountsWhatIsAliveWhileAnInstructionRuns) {
  const MemoryTimeline timeline(single_segment());
  EXPECT_EQ(timeline.size(), 6u);
  const CategoryBytes& fc = timeline.at(Space::kHost, 0, 1);
  EXPECT_EQ(bytes_of(fc, Category::kParameters), 512);
  EXPECT_EQ(bytes_of(fc, Category::kInput), 256);
  EXPECT_EQ(bytes_of(fc, Category::kActivations), 256);
  EXPECT_EQ(bytes_of(fc, Category::kWorkspace), 256);
  const CategoryBytes& relu = timeline.at(Space::kHost, 0, 2);
  EXPECT_EQ(bytes_of(relu, Category::kInput), 0);
  EXPECT_EQ(bytes_of(relu, Category::kWorkspace), 0);
  EXPECT_FALSE(timeline.uses(Space::kDisk));
}

TEST(MemoryTimeline, CountsEverySlotAndEverySpace) {
  EXPECT_EQ(bytes_of(MemoryTimeline(microbatches()).at(Space::kHost, 1, 1), Category::kInput), 512);
  const MemoryTimeline timeline(streamed());
  EXPECT_TRUE(timeline.uses(Space::kDisk));
  EXPECT_EQ(bytes_of(timeline.at(Space::kDisk, 1, 0), Category::kParameters), 256);
  EXPECT_EQ(bytes_of(timeline.at(Space::kHost, 1, 0), Category::kParameters), 0);
  EXPECT_EQ(bytes_of(timeline.at(Space::kHost, 0, 0), Category::kActivations), 3 * 128);
}

TEST(TraceRecorder, CountsSpansOfAStep) {
  EXPECT_EQ(count_spans(single_segment()), 6);
  EXPECT_EQ(count_spans(microbatches()), 1 + 4 * 5 + 1);
}

TEST(TraceRecorder, DropsAndCountsWhatDoesNotFit) {
  TraceRecorder recorder(2);
  recorder.set_step(7);
  for (int i = 0; i < 5; ++i) recorder.span(0, i, 0, 0, 10 * i, 10 * i + 5);
  ASSERT_EQ(recorder.spans().size(), 2u);
  EXPECT_EQ(recorder.spans()[1], (TraceSpan{7, 0, 1, 0, 0, 10, 15}));
  EXPECT_EQ(recorder.dropped(), 3);
  recorder.clear();
  EXPECT_TRUE(recorder.spans().empty());
  EXPECT_EQ(recorder.dropped(), 0);
}

TEST(TraceRecorder, KeepsEverySpanOfSeveralThreads) {
  TraceRecorder recorder(2000);
  const auto record = [&](int lane) {
    for (int i = 0; i < 1000; ++i) recorder.span(0, i, 0, lane, i, i + 1);
  };
  std::thread other(record, 1);
  record(0);
  other.join();
  ASSERT_EQ(recorder.spans().size(), 2000u);
  int64_t sum = 0;
  for (const TraceSpan& span : recorder.spans()) sum += span.index;
  EXPECT_EQ(sum, 2 * 999 * 1000 / 2);
}

nlohmann::json trace_of(const program::Program& program, const std::vector<TraceSpan>& spans) {
  std::ostringstream out;
  write_chrome_trace(out, program, spans);
  return nlohmann::json::parse(out.str());
}

std::vector<nlohmann::json> events(const nlohmann::json& trace, const std::string& phase) {
  std::vector<nlohmann::json> found;
  for (const auto& event : trace["traceEvents"])
    if (event["ph"] == phase) found.push_back(event);
  return found;
}

TEST(ChromeTrace, NamesLanesAndPlacesOps) {
  // Recorded out of order, as threads do.
  const std::vector<TraceSpan> spans = {{3, 1, 1, 2, 0, 5'000'000, 5'002'500}, {3, 1, 0, 2, 2, 4'999'000, 4'999'500}};
  const auto trace = trace_of(microbatches(), spans);
  const auto names = events(trace, "M");
  ASSERT_EQ(names.size(), 3u);
  EXPECT_EQ(names[0]["args"]["name"], "plimsoll microbatches");
  EXPECT_EQ(names[1]["args"]["name"], "compute");
  EXPECT_EQ(names[2]["args"]["name"], "feeds") << "there is no device";
  const auto ops = events(trace, "X");
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0]["name"], "x");
  EXPECT_EQ(ops[0]["cat"], "feed");
  EXPECT_EQ(ops[0]["ts"], 0.0);
  EXPECT_EQ(ops[0]["tid"], 2);
  EXPECT_EQ(ops[1]["name"], "fc");
  EXPECT_EQ(ops[1]["cat"], "matmul");
  EXPECT_EQ(ops[1]["ts"], 1.0);
  EXPECT_EQ(ops[1]["dur"], 2.5);
  EXPECT_EQ(ops[1]["args"]["iteration"], 2);
  EXPECT_EQ(ops[1]["args"]["step"], 3);
  EXPECT_EQ(ops[1]["args"]["segment"], "microbatch");
}

TEST(ChromeTrace, NamesTheWayToADeviceWhereThereIsOne) {
  program::Program program = microbatches();
  program.residences[0].space = Space::kDevice;
  EXPECT_EQ(events(trace_of(program, {{0, 1, 0, 0, 2, 0, 1}}), "M")[1]["args"]["name"], "host_to_device");
}

TEST(ChromeTrace, CountersChangeOnlyWhereMemoryDoes) {
  std::vector<TraceSpan> spans;
  for (int i = 0; i < 6; ++i) spans.push_back({0, 0, i, 0, 0, 1000 * i, 1000 * i + 900});
  const auto counters = events(trace_of(single_segment(), spans), "C");
  // Before x; with y and workspace; without x and workspace; with the loss.
  ASSERT_EQ(counters.size(), 4u);
  EXPECT_EQ(counters[0]["name"], "host memory");
  EXPECT_EQ(counters[1]["args"]["workspace"], 256);
  EXPECT_EQ(counters[2]["args"]["workspace"], 0);
  EXPECT_EQ(counters[3]["ts"], 3.0);
  EXPECT_EQ(counters[3]["args"]["activations"], 260);
}

TEST(ChromeTrace, KernelsSayWhatTheyDoAndHowNearTheyCameToTheLeastTime) {
  const Roofline roofline{
      .calls = std::vector<CallWork>(8, {.flops = 3000, .bytes = 500}), .flops_per_s = 2e9, .bytes_per_s = 1e9};
  const std::vector<TraceSpan> spans = {{3, 1, 1, 2, 0, 0, 2'000}, {3, 1, 0, 2, 2, 3'000, 3'500}};
  std::ostringstream out;
  write_chrome_trace(out, microbatches(), spans, &roofline);
  const auto ops = events(nlohmann::json::parse(out.str()), "X");
  EXPECT_EQ(ops[0]["args"]["flops"], 3000);
  EXPECT_EQ(ops[0]["args"]["bytes"], 500);
  EXPECT_EQ(ops[0]["args"]["bound_us"], 1.5);
  EXPECT_EQ(ops[0]["args"]["share_of_bound"], 0.75);
  EXPECT_FALSE(ops[1]["args"].contains("flops")) << "a feed computes nothing";
}

TEST(ChromeTrace, NothingRecordedIsStillATrace) { EXPECT_EQ(trace_of(single_segment(), {})["traceEvents"].size(), 1u); }

TEST(ChromeTrace, ReasonsAndOddNamesAreEscaped) {
  program::Program program = single_segment();
  program.segments[0].instructions[4].label = "a\"b\n";
  const auto ops = events(trace_of(program, {{0, 0, 4, 0, 0, 0, 1}}), "X");
  EXPECT_EQ(ops[0]["name"], "a\"b\n");
  EXPECT_EQ(ops[0]["args"]["reason"], "a loss that is not finite must change nothing");
}

}  // namespace
}  // namespace plimsoll::report
