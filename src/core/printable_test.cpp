#include "core/printable.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(Printable, EscapesWhatATerminalTakesForCommands) {
  EXPECT_EQ(printable("a\nb\tc\rd\x1b[31m\x7f"), "a\\nb\\tc\\x0dd\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m")
      << "a control sequence of one character";
}

TEST(Printable, KeepsTextAndEscapesWhatIsNone) {
  EXPECT_EQ(printable("é 日本 … 'q' \"r\" \\"), "é 日本 … 'q' \"r\" \\");
  EXPECT_EQ(printable("a\xff\xc3"), "a\\xff\\xc3");
}

TEST(Printable, LinesStayLines) { EXPECT_EQ(printable_lines("a\n\tb\x1b\n"), "a\n\tb\\x1b\n"); }

TEST(Printable, NamesAreQuotedAndCut) {
  EXPECT_EQ(named("run\n.toml"), "'run\\n.toml'");
  EXPECT_EQ(named(""), "''");
  const std::string cut = named(std::string(119, 'a') + "é" + std::string(1000, 'b'));
  EXPECT_EQ(cut, "'" + std::string(119, 'a') + "…'") << "between characters";
  EXPECT_EQ(named(std::string(120, 'a')), "'" + std::string(120, 'a') + "'");
}

}  // namespace
}  // namespace plimsoll
