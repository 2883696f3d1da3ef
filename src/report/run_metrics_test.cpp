#include "report/run_metrics.h"

#include <gtest/gtest.h>

#include <sstream>

namespace plimsoll::report {
namespace {

using Points = std::vector<std::pair<double, double>>;

TEST(RunMetrics, HoldsWhatARunRecorded) {
  std::istringstream lines(
      R"({"event":"step","step":1,"loss":5.5,"grad_norm":2.5,"lr":0.01,"tokens_per_s":100,"skipped":false,)"
      R"("memory":{"host.parameters":1000,"host.runtime":24}})"
      "\n"
      R"({"event":"step","step":1,"loss":null,"grad_norm":null,"lr":0.01,"tokens_per_s":90,"skipped":true})"
      "\n"
      R"({"event":"evaluation","step":1,"loss":3.5,"bits_per_byte":5.25,"targets":860})"
      "\n"
      R"({"event":"evaluation","step":2,"loss":3.25,"bits_per_byte":null})"
      "\n"
      R"({"event":"baseline","model":"order-3 bytes","bits_per_byte":1.5})"
      "\n"
      R"({"event":"sample","prompt":"a","text":"b\n","known_word_share":0.5})"
      "\n"
      R"({"event":"end","train_seconds":2.5,"vmhwm_bytes":51466240,"needed_bytes":66379776})"
      "\n");
  const RunMetrics metrics = read_run_metrics(lines);
  EXPECT_EQ(metrics.loss.points(), (Points{{1, 5.5}}));
  EXPECT_EQ(metrics.gradient_norm.points(), (Points{{1, 2.5}}));
  EXPECT_EQ(metrics.learning_rate.points(), (Points{{1, 0.01}}));
  EXPECT_EQ(metrics.memory_bytes.points(), (Points{{1, 1024}}));
  EXPECT_EQ(metrics.skipped, 1);
  EXPECT_EQ(metrics.validation_loss.points(), (Points{{1, 3.5}, {2, 3.25}}));
  EXPECT_EQ(metrics.validation_bits_per_byte.points(), (Points{{1, 5.25}}));
  EXPECT_EQ(metrics.baseline->bits_per_byte, 1.5);
  EXPECT_EQ(metrics.sample->prompt + metrics.sample->text, "ab\n");
  EXPECT_EQ(metrics.sample->known_word_share, 0.5);
  EXPECT_EQ(metrics.end->peak_bytes, 51466240);
  EXPECT_EQ(metrics.end->planned_bytes, 66379776);
}

TEST(RunMetrics, PassesOverWhatIsNoEvent) {
  std::istringstream lines(
      "\n{\"event\":\n[1]\n{\"event\":7}\n{\"event\":\"step\",\"step\":\"x\",\"loss\":1,\"memory\":3}\n"
      "{\"event\":\"step\",\"loss\":[1]}\n{\"event\":\"end\"}");
  const RunMetrics metrics = read_run_metrics(lines);
  EXPECT_TRUE(metrics.loss.empty());
  EXPECT_EQ(metrics.end->peak_bytes, 0);
}

TEST(RunMetrics, OfTwoSessionsAreOneRun) {
  std::istringstream lines(R"({"event":"step","step":1,"samples":2,"loss":5.5,"skipped":false})"
                           "\n"
                           R"({"event":"step","step":2,"samples":4,"loss":null,"skipped":true})"
                           "\n"
                           R"({"event":"step","step":2,"samples":6,"loss":null,"skipped":true})"
                           "\n"
                           R"({"event":"step","step":2,"samples":8,"loss":4.5,"skipped":false})"
                           "\n"
                           R"({"event":"evaluation","step":2,"loss":3.25,"bits_per_byte":5})"
                           "\n"
                           R"({"event":"end","train_seconds":2.5,"vmhwm_bytes":5000,"needed_bytes":6000})"
                           "\n"
                           R"({"event":"step","step":2,"samples":6,"loss":null,"skipped":true})"
                           "\n"
                           R"({"event":"step","step":2,"samples":8,"loss":4.25,"skipped":false})"
                           "\n"
                           R"({"event":"evaluation","step":2,"loss":3.5,"bits_per_byte":5.25})"
                           "\n"
                           R"({"event":"end","train_seconds":1.25,"vmhwm_bytes":4000,"needed_bytes":4500})"
                           "\n");
  const RunMetrics metrics = read_run_metrics(lines);
  EXPECT_EQ(metrics.loss.points(), (Points{{1, 5.5}, {2, 4.25}}));
  EXPECT_EQ(metrics.validation_loss.points(), (Points{{2, 3.5}})) << "evaluated once more at the same step";
  EXPECT_EQ(metrics.validation_bits_per_byte.points(), (Points{{2, 5.25}}));
  EXPECT_EQ(metrics.skipped, 2) << "one of them told twice";
  EXPECT_EQ(metrics.end->train_seconds, 3.75);
  EXPECT_EQ(metrics.end->peak_bytes, 5000);
  EXPECT_EQ(metrics.end->planned_bytes, 6000) << "of the process that had that peak";
}

TEST(Series, OfVeryManyPointsKeepsAnEvenPartAndTheLast) {
  for (const int given : {4095, 4096, 4097, 4098, 8192, 8193, 100'000}) {
    Series series;
    for (int i = 0; i < given; ++i) {
      series.add(i, 2 * i);
      ASSERT_EQ(series.points().back(), std::pair(1.0 * i, 2.0 * i));
    }
    const auto& points = series.points();
    EXPECT_LE(points.size(), Series::kMostPoints) << given;
    EXPECT_GE(points.size(), Series::kMostPoints / 2) << given;
    const double stride = points[1].first;
    for (size_t i = 0; i + 1 < points.size(); ++i) EXPECT_EQ(points[i].first, stride * static_cast<double>(i)) << given;
  }
}

TEST(Series, AFurtherValueOfAStepTakesTheFirstOnesPlace) {
  Series series;
  for (int i = 0; i < 10'000; ++i)
    for (const int value : {0, i}) series.add(i, value);
  for (const auto& [step, value] : series.points()) EXPECT_EQ(step, value);
}

}  // namespace
}  // namespace plimsoll::report
