#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/poison.h"

namespace plimsoll::conformance {

/// Memory with a fence on both sides that shows writes beyond its end; 64-byte aligned.
class FencedBuffer {
 public:
  /// Every byte starts as poison, which is NaN in all floating types.
  explicit FencedBuffer(int64_t size_bytes)
      : size_(static_cast<size_t>(size_bytes)), storage_(size_ + 2 * kFence + kAlignment, memory::kFence) {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data()) + kFence;
    begin_ = (address + kAlignment - 1) / kAlignment * kAlignment - reinterpret_cast<uintptr_t>(storage_.data());
    memory::fill(all().subspan(begin_, size_), memory::kPoison);
  }

  unsigned char* data() { return reinterpret_cast<unsigned char*>(storage_.data()) + begin_; }
  std::vector<unsigned char> bytes() { return {data(), data() + size_}; }

  bool fences_hold() {
    return !memory::find_touched(all().first(begin_), memory::kFence) &&
           !memory::find_touched(all().subspan(begin_ + size_), memory::kFence);
  }

 private:
  static constexpr size_t kFence = memory::kFenceBytes;
  static constexpr size_t kAlignment = 64;

  std::span<std::byte> all() { return storage_; }

  size_t size_;
  size_t begin_ = 0;
  std::vector<std::byte> storage_;
};

}  // namespace plimsoll::conformance
