#include "report/quantities.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace plimsoll::report {
namespace {

TEST(Quantities, DurationsHaveTheUnitThatReadsBest) {
  const std::vector<std::pair<double, std::string>> cases = {{0, "0 s"},
                                                             {1.2483e-9, "1.25 ns"},
                                                             {592.4e-9, "592 ns"},
                                                             {0.99999e-6, "1.00 µs"},
                                                             {12.5e-6, "12.5 µs"},
                                                             {0.00085, "850 µs"},
                                                             {0.00099999, "1.00 ms"},
                                                             {0.85, "850 ms"},
                                                             {0.99999, "1.00 s"},
                                                             {12.34, "12.3 s"},
                                                             {59.94, "59.9 s"},
                                                             {59.99, "1 min 00 s"},
                                                             {123, "2 min 03 s"},
                                                             {3599, "59 min 59 s"},
                                                             {3720, "1 h 02 min"},
                                                             {3599.7, "1 h 00 min"},
                                                             {200000, "2 d 07 h"},
                                                             {-1, "?"},
                                                             {std::numeric_limits<double>::quiet_NaN(), "?"},
                                                             {std::numeric_limits<double>::infinity(), "?"}};
  for (const auto& [seconds, text] : cases) EXPECT_EQ(to_duration(seconds), text) << seconds;
}

TEST(Quantities, NumbersHaveThreeDigits) {
  const std::vector<std::pair<double, std::string>> cases = {{0, "0"},
                                                             {512, "512"},
                                                             {0.5, "0.50"},
                                                             {999.4, "999"},
                                                             {999.6, "1.00 k"},
                                                             {11234, "11.2 k"},
                                                             {1'260'000, "1.26 M"},
                                                             {124.4e6, "124 M"},
                                                             {1.5576e9, "1.56 G"},
                                                             {-11234, "-11.2 k"},
                                                             {std::numeric_limits<double>::infinity(), "?"}};
  for (const auto& [number, text] : cases) EXPECT_EQ(to_quantity(number), text) << number;
  EXPECT_EQ(to_rate(11234, "tokens"), "11.2 k tokens/s");
  EXPECT_EQ(to_quantity(16.89e9, "B/s"), "16.9 GB/s");
  EXPECT_EQ(to_quantity(512, "B/s"), "512 B/s");
}

TEST(Quantities, ShareOfNothingIsNone) {
  EXPECT_EQ(to_share(1, 4), "25.0 %");
  EXPECT_EQ(to_share(0, 0), "0.0 %");
}

TEST(Quantities, NamesOfFieldsAreWords) { EXPECT_EQ(to_words("optimizer_state"), "optimizer state"); }

}  // namespace
}  // namespace plimsoll::report
