#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace plimsoll::conformance {

/// Memory with a fence on both sides that shows writes beyond its end; 64-byte aligned.
class FencedBuffer {
 public:
  /// Every byte starts as `poison`; 0xFF is NaN in all floating types.
  explicit FencedBuffer(int64_t size_bytes, unsigned char poison = 0xFF)
      : size_(static_cast<size_t>(size_bytes)), storage_(size_ + 2 * kFence + kAlignment, kFenceByte) {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data()) + kFence;
    begin_ = (address + kAlignment - 1) / kAlignment * kAlignment - reinterpret_cast<uintptr_t>(storage_.data());
    std::memset(data(), poison, size_);
  }

  unsigned char* data() { return storage_.data() + begin_; }
  std::vector<unsigned char> bytes() { return {data(), data() + size_}; }

  bool fences_hold() const {
    for (size_t i = 0; i < storage_.size(); ++i)
      if ((i < begin_ || i >= begin_ + size_) && storage_[i] != kFenceByte) return false;
    return true;
  }

 private:
  static constexpr size_t kFence = 256;
  static constexpr size_t kAlignment = 64;
  static constexpr unsigned char kFenceByte = 0xA5;
  size_t size_;
  size_t begin_ = 0;
  std::vector<unsigned char> storage_;
};

}  // namespace plimsoll::conformance
