#include "report/progress.h"

#include <gtest/gtest.h>

namespace plimsoll::report {
namespace {

Progress sample() {
  Progress progress{.step = 120, .steps = 2000, .loss = 3.21454, .lr = 1e-3, .tokens_per_s = 11234, .eta_s = 160};
  progress.memory_bytes[static_cast<size_t>(Category::kParameters)] = 5 << 20;
  progress.memory_bytes[static_cast<size_t>(Category::kOptimizerState)] = 10 << 20;
  return progress;
}

TEST(Progress, LineHasLossRateTimeLeftAndMemory) {
  EXPECT_EQ(progress_line(sample()),
            "step  120/2000 | loss 3.2145 | lr 1.00e-03 | 11.2 k tokens/s | ETA 2 min 40 s | 15.0 MiB: optimizer state "
            "10.0 MiB, parameters 5.00 MiB");
}

TEST(Progress, ValidationLossIsShownWhereThereIsOne) {
  Progress progress = sample();
  progress.validation_loss = 3.5;
  EXPECT_NE(progress_line(progress).find("| loss 3.2145 | validation 3.5000 | lr"), std::string::npos);
}

TEST(Progress, FilesGetPlainLines) {
  const std::string text = to_output(sample(), {.is_terminal = false, .columns = 20});
  EXPECT_EQ(text, progress_line(sample()) + "\n");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Progress, TerminalsGetALineThatOverwritesAndFits) {
  EXPECT_EQ(to_output(sample(), {.is_terminal = true, .columns = 35}),
            "\rstep  120/2000 | \x1b[1mloss 3.2145\x1b[0m | lr…\x1b[K");
  EXPECT_EQ(to_output(sample(), {.is_terminal = true, .columns = 6}), "\rstep…\x1b[K");
}

TEST(Progress, CutsBetweenCharacters) {
  EXPECT_EQ(cut_to_width("ä…ö", 3), "ä…ö");
  EXPECT_EQ(cut_to_width("äöü", 2), "ä…");
  EXPECT_EQ(cut_to_width("äöü", 1), "…");
  EXPECT_EQ(cut_to_width("äöü", 0), "");
}

}  // namespace
}  // namespace plimsoll::report
