#include "engine/training/lasting_settings.h"

#include <gtest/gtest.h>

namespace plimsoll::engine {
namespace {

TEST(LastingSettings, HoldTheOrderOfSamples) {
  RunConfig config;
  const auto then = lasting_settings(config);
  config.train.seed = 3;
  EXPECT_NE(lasting_settings(config), then);
}

TEST(LastingSettings, LetsRatesAndTheCutIntoMicrobatchesChange) {
  RunConfig config;
  config.train.batch_size = 8;
  const auto then = lasting_settings(config);
  config.train.batch_size = 2;
  config.train.accumulate = 4;
  config.optimizer.lr = 7;
  config.schedule.name = "cosine";
  EXPECT_EQ(lasting_settings(config), then);
}

}  // namespace
}  // namespace plimsoll::engine
