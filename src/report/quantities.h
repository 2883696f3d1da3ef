#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll::report {

/// "1.25 ns", "850 ms", "12.3 s", "2 min 03 s", "1 h 02 min"; "?" for what is negative or not finite.
std::string to_duration(double seconds);

/// "512", "11.2 k", "1.26 M", "124 M", "1.56 G": decimal, three digits; "?" for what is not finite.
std::string to_quantity(double number);

/// The same with a unit whose prefix it takes: "16.9 GB/s", "512 B/s".
std::string to_quantity(double number, const std::string& unit);

/// "11.2 k tokens/s"
std::string to_rate(double per_s, const std::string& unit);

/// "25.4 %", or "0.0 %" of nothing.
std::string to_share(int64_t part, int64_t whole);

/// A field's name as people read it: "optimizer state" for "optimizer_state".
std::string to_words(std::string_view name);

}  // namespace plimsoll::report
