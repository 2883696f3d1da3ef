#include "report/run_page.h"

#include <gtest/gtest.h>

#include <limits>

#include "program/sample_programs.h"

namespace plimsoll::report {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(RunPage, ShowsLossMemoryAndLanesOfTheLastStep) {
  const program::Program program = program::samples::microbatches();
  std::vector<TraceSpan> spans;
  for (int64_t step = 0; step < 2; ++step)
    for (int i = 0; i < 5; ++i)
      spans.push_back({step, 1, i, 0, i == 0 ? 2 : 0, step * 10'000 + i * 1000, step * 10'000 + i * 1000 + 900});
  RunMetrics metrics;
  for (const double loss : {4.0, 3.0, std::numeric_limits<double>::quiet_NaN()}) metrics.loss.add(4 - loss, loss);
  metrics.validation_loss.add(0, 3.5);
  metrics.validation_loss.add(1, 3.25);
  const RunPage page{.title = "a <run>\x1b", .metrics = metrics, .program = &program, .spans = spans};
  const std::string html = to_html(page);
  EXPECT_NE(html.find("<title>a &lt;run&gt;\\x1b</title>"), std::string::npos);
  EXPECT_EQ(count(html, "<polyline"), 2u);
  EXPECT_EQ(count(html, "<rect"), 5u) << "of one step";
  EXPECT_NE(html.find("Memory over a step: host"), std::string::npos);
  EXPECT_EQ(html.find("Memory over a step: disk"), std::string::npos);
  EXPECT_NE(html.find(">feeds<"), std::string::npos);
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos) << "loads nothing";
  EXPECT_EQ(count(html, "<svg"), count(html, "</svg>"));
  EXPECT_EQ(html, to_html(page));
}

TEST(RunPage, ShowsEverythingThatTheRunRecorded) {
  RunMetrics metrics;
  for (int step = 1; step <= 3; ++step) {
    for (Series* series : {&metrics.loss, &metrics.gradient_norm, &metrics.learning_rate, &metrics.tokens_per_s})
      series->add(step, 4.0 / step);
    metrics.memory_bytes.add(step, 40 << 20);
  }
  metrics.validation_loss.add(3, 3.5);
  metrics.validation_bits_per_byte.add(3, 2.25);
  metrics.baseline = {"order-3 bytes", 1.875};
  metrics.sample = {"pro<mpt", "text\nmore\x1b", 0.967};
  metrics.end = {2.5, 51466240, 66379776};
  metrics.skipped = 2;
  const std::string html = to_html({.title = "a run", .metrics = metrics});
  for (const char* part :
       {"<td>validation text</td><td>2.2500 bits per byte</td>",
        "<td>the same by order-3 bytes</td><td>1.8750 bits per byte</td>", "<td>updates skipped</td><td>2</td>",
        "<td>peak resident memory of the process</td><td>49.1 MiB (51466240 bytes)</td>",
        "<td>planned for the process</td><td>63.3 MiB (66379776 bytes)</td>", "<td>77.5 %</td>",
        "<h2>Memory of the process, MiB</h2>", "<h2>Learning rate</h2>", "<h2>Gradient norm</h2>",
        "<h2>Tokens a second</h2>", "<pre><b>pro&lt;mpt</b>text\nmore\\x1b</pre>", "96.7 % of its words"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  EXPECT_EQ(count(html, "<circle"), 2u) << "validation loss and bits per byte have one point each";
  EXPECT_EQ(count(html, "<svg"), 6u);
}

TEST(RunPage, ShowsTheLastOfVeryManyEvaluations) {
  RunMetrics metrics;
  for (int step = 1; step <= 5000; ++step) {
    metrics.loss.add(step, 5);
    metrics.validation_loss.add(step, 1.0 / step);
  }
  EXPECT_NE(to_html({.title = "a run", .metrics = metrics}).find("<td>0.0002 nats a token</td>"), std::string::npos);
  metrics.validation_loss.add(5001, 4.5);
  const std::string html = to_html({.title = "a run", .metrics = metrics});
  EXPECT_NE(html.find("<td>4.5000 nats a token</td>"), std::string::npos);
  EXPECT_NE(html.find(">5001</text>"), std::string::npos) << "where the curves end";
}

TEST(RunPage, StandsWithoutAnyData) {
  const std::string html = to_html({.title = "empty"});
  EXPECT_NE(html.find("nothing was recorded"), std::string::npos);
  EXPECT_TRUE(html.ends_with("</html>\n"));
}

}  // namespace
}  // namespace plimsoll::report
