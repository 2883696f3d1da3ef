#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace plimsoll {

void fail_check(const char* file, int line, const char* condition, const std::string& detail) {
  std::fprintf(stderr, "plimsoll: internal error at %s:%d: %s does not hold%s%s\n", file, line, condition,
               detail.empty() ? "" : ": ", detail.c_str());
  std::abort();
}

}  // namespace plimsoll
