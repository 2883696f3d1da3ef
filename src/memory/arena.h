#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/bytes.h"
#include "core/result.h"
#include "core/thread_pool.h"
#include "core/tiers.h"

namespace plimsoll::memory {

/// One real allocation in one space, in which the plan's offsets lie; given back with the object.
class Arena {
 public:
  virtual ~Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  Space space() const { return space_; }
  /// What was asked for.
  Bytes size() const { return size_; }
  /// The first byte, aligned to 64 bytes at least; nullptr where the size is 0.
  std::byte* data() const { return data_; }
  /// The address at `offset`. Requires: 0 <= offset <= size().
  std::byte* at(int64_t offset) const {
    PLIMSOLL_CHECK(offset >= 0 && offset <= size_.value, offset, " of ", size_.value);
    return data_ + offset;
  }
  std::span<std::byte> bytes() const { return {data_, static_cast<size_t>(size_.value)}; }
  /// Wall time that it took to have the system back every page.
  double populate_seconds() const { return populate_seconds_; }

 protected:
  Arena(Space space, Bytes size, std::byte* data, double populate_seconds)
      : space_(space), size_(size), data_(data), populate_seconds_(populate_seconds) {}

 private:
  Space space_;
  Bytes size_;
  std::byte* data_;
  double populate_seconds_;
};

/// What an arena of so many bytes takes from the system: whole pages, and their page tables.
/// Requires: size >= 0. Errors: out_of_memory where that overflows.
Result<Bytes> try_host_arena_cost(Bytes size);

/// Errors: out_of_memory where an arena of so many bytes takes more than `free`, of which `bound_by` is the source.
Status check_host_arena(Bytes size, Bytes free, const std::string& bound_by);

/// An arena in RAM: zeroed pages of its own, all touched here by all threads, so that no step meets a page fault.
///
/// Memory: try_host_arena_cost: `size` in small pages, huge pages or not, and page tables. Huge
/// pages are used where whole ones fit: the same bytes are charged, and fewer entries fill the processor's address
/// caches. Errors: out_of_memory, with the bytes needed and those free, before anything is touched where the control
/// groups or the system would not give them: past that, the kernel would kill the process instead of refusing.
/// Requires: size >= 0. Cost: from 0.3 µs (huge) or 2 µs (small pages) for each 4 KiB; on virtual machines whose host
/// gives memory only when first used, 12 to 34 µs, whatever the pages.
Result<std::unique_ptr<Arena>> try_make_host_arena(Bytes size, ThreadPool& pool);

}  // namespace plimsoll::memory
