#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "core/bytes.h"
#include "core/result.h"
#include "core/thread_pool.h"

namespace plimsoll::hardware {

/// Bytes of one page, the unit in which the kernel gives and counts memory.
int64_t page_bytes();

/// Bytes of kernel page tables that a populated mapping costs besides: 8 for each small page, huge pages or not (the
/// kernel keeps a table in reserve for each huge page). Control groups charge them to the process; VmRSS leaves them
/// out.
int64_t page_table_bytes(Bytes mapped);

/// Which pages a mapping asks for.
enum class PageKind {
  kSmall,  ///< page_bytes() each
  kHuge,   ///< 2 MiB each where a whole one fits inside and the kernel has one; small pages for the rest
};

/// Private zeroed memory straight from the kernel, unmapped at the end of its life.
///
/// Memory: exactly the size asked for, rounded up to small pages, is ever charged, huge pages or not: only whole huge
/// pages inside the mapping are used, and its start is aligned so that as many as possible are. Nothing is charged
/// before a byte is touched.
class AnonymousMapping {
 public:
  /// Maps `size`. Errors: out_of_memory where the kernel refuses. Requires: size > 0.
  static Result<AnonymousMapping> try_make(Bytes size, PageKind kind);

  AnonymousMapping(AnonymousMapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), size_(std::exchange(other.size_, {})) {}
  AnonymousMapping& operator=(AnonymousMapping&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~AnonymousMapping();

  std::byte* data() const { return base_; }
  Bytes size() const { return size_; }
  std::span<std::byte> bytes() const { return {base_, static_cast<size_t>(size_.value)}; }

  /// Writes a zero to every page, all threads in parallel, so that the kernel backs it now. Requires: nothing is stored
  /// yet.
  void populate(ThreadPool& pool);

 private:
  AnonymousMapping(std::byte* base, Bytes size) : base_(base), size_(size) {}

  std::byte* base_ = nullptr;
  Bytes size_;
};

}  // namespace plimsoll::hardware
