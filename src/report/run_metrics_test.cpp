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
  EXPECT_EQ(metrics.learning_rate.points(), (Points{{1, 0.01}, {1, 0.01}}));
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

TEST(Series, OfVeryManyPointsKeepsAnEvenPart) {
  Series series;
  for (int i = 0; i < 100'000; ++i) series.add(i, 2 * i);
  const auto& points = series.points();
  EXPECT_LT(points.size(), Series::kMostPoints);
  EXPECT_GE(points.size(), Series::kMostPoints / 2);
  const double stride = points[1].first;
  for (size_t i = 0; i < points.size(); ++i) EXPECT_EQ(points[i].first, stride * static_cast<double>(i));
}

}  // namespace
}  // namespace plimsoll::report
