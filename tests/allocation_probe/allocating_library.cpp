#include <cstdlib>

/// Stands for a library of someone else's: a shared object that allocates, or calls back.
extern "C" void* allocate_in_library(size_t size) {
  auto* block = static_cast<char*>(std::malloc(size));
  if (block != nullptr) block[0] = 1;  // as a last statement malloc would be jumped to, and the caller be ours
  return block;
}

extern "C" void call_back_from_library(void (*function)()) { function(); }
