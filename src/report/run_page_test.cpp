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
  const RunPage page{.title = "a <run>",
                     .facts = {"1 & 2"},
                     .losses = {{1, 4.0}, {2, 3.0}, {3, std::numeric_limits<double>::quiet_NaN()}},
                     .validation = {{2, 3.5}},
                     .program = &program,
                     .spans = spans};
  const std::string html = to_html(page);
  EXPECT_NE(html.find("<title>a &lt;run&gt;</title>"), std::string::npos);
  EXPECT_NE(html.find("<p>1 &amp; 2</p>"), std::string::npos);
  EXPECT_EQ(count(html, "<polyline"), 2u);
  EXPECT_EQ(count(html, "<rect"), 5u) << "of one step";
  EXPECT_NE(html.find("Memory over a step: host"), std::string::npos);
  EXPECT_EQ(html.find("Memory over a step: disk"), std::string::npos);
  EXPECT_NE(html.find(">host_to_device<"), std::string::npos);
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos) << "loads nothing";
  EXPECT_EQ(count(html, "<svg"), count(html, "</svg>"));
  EXPECT_EQ(html, to_html(page));
}

TEST(RunPage, StandsWithoutAnyData) {
  const std::string html = to_html({.title = "empty"});
  EXPECT_NE(html.find("nothing was recorded"), std::string::npos);
  EXPECT_TRUE(html.ends_with("</html>\n"));
}

}  // namespace
}  // namespace plimsoll::report
