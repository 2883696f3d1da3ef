#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plimsoll::allocation_probe {

/// Calls of malloc, calloc, realloc, posix_memalign, aligned_alloc, memalign, mmap and operator new.
struct Counts {
  int64_t calls = 0;
  int64_t bytes = 0;
  int64_t largest_bytes = 0;
};

/// What one library asked for.
struct LibraryCounts {
  std::string
      name;  ///< file name, e.g. "libdnnl.so.2.6"; "unknown" where the caller is in no loaded file (generated code)
  Counts counts;
};

/// All that was asked for between start() and stop(), by all threads.
struct Report {
  Counts ours;       ///< called from the executable, be it through the C or C++ library
  Counts libraries;  ///< the sum of `by_library`
  std::vector<LibraryCounts> by_library;
  /// The first calls of ours (16 at most), for the message of a failed test: function, bytes, and callers as
  /// "symbol (executable+0x1234)", innermost first; addr2line takes the offsets.
  std::vector<std::string> our_first_calls;
};

/// Begins to count from zero. The innermost caller that is neither the C nor the C++ library decides whose a call is.
///
/// A library function that ends by jumping to malloc (a tail call) leaves no frame; such a call counts for its caller.
/// What the C library maps for its own heap and for thread stacks is not seen; the malloc call that caused it is.
void start();

/// Ends counting.
Report stop();

}  // namespace plimsoll::allocation_probe
