#pragma once

#include <string>
#include <string_view>

namespace plimsoll {

/// The text as a terminal may show it, on one line: control characters and bytes that are no UTF-8 as \n, \t or \xHH;
/// all else as it stands. So no name or value that a message repeats can move the cursor or change a colour.
std::string printable(std::string_view text);

/// The same with line ends and tabs kept: for text that is shown as such.
std::string printable_lines(std::string_view text);

/// What a user gave, as messages name it: in quotes, printable, and cut with … where it is long.
std::string named(std::string_view text);

/// At most so many bytes of the text, cut between characters and with … behind where there are more.
std::string shortened(std::string_view text, size_t most);

}  // namespace plimsoll
