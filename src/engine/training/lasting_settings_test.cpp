#include "engine/training/lasting_settings.h"

#include <gtest/gtest.h>

namespace plimsoll::engine {
namespace {

TEST(LastingSettings, NamesTheFirstThatChangedWithBothValues) {
  RunConfig config;
  config.train.batch_size = 8;
  const auto then = lasting_settings(config);
  config.train.seed = 3;
  EXPECT_EQ(check_same_settings(then, lasting_settings(config)).error().message,
            "the run began with train.seed = '0', it is now '3'; resume with what it began with, or begin another run");
}

TEST(LastingSettings, LetsRatesAndTheCutIntoMicrobatchesChange) {
  RunConfig config;
  config.train.batch_size = 8;
  const auto then = lasting_settings(config);
  config.train.batch_size = 2;
  config.train.accumulate = 4;
  config.optimizer.lr = 7;
  config.schedule.name = "cosine";
  EXPECT_TRUE(check_same_settings(then, lasting_settings(config)).ok());
}

}  // namespace
}  // namespace plimsoll::engine
