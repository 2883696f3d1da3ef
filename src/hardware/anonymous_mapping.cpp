#include "hardware/anonymous_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace plimsoll::hardware {
namespace {

constexpr int64_t kHugePageBytes = int64_t{2} << 20;
/// Each thread works on whole huge pages, or two threads would clear the same one.
constexpr int64_t kSliceBytes = 8 * kHugePageBytes;

std::byte* map(int64_t size) {
  void* base = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return base == MAP_FAILED ? nullptr : static_cast<std::byte*>(base);
}

void unmap(std::byte* base, int64_t size) {
  if (size > 0) munmap(base, static_cast<size_t>(size));
}

/// Maps one huge page more than asked for and gives back what lies before and after the aligned part.
std::byte* map_aligned(int64_t size) {
  std::byte* wide = map(size + kHugePageBytes);
  if (wide == nullptr) return nullptr;
  const auto address = static_cast<int64_t>(reinterpret_cast<uintptr_t>(wide));
  const int64_t before = align_up(address, kHugePageBytes) - address;
  unmap(wide, before);
  unmap(wide + before + size, kHugePageBytes - before);
  return wide + before;
}

}  // namespace

int64_t page_bytes() {
  static const int64_t size = sysconf(_SC_PAGESIZE);
  return size;
}

int64_t page_table_bytes(Bytes mapped) {
  const int64_t page = page_bytes();
  const int64_t entries = page / 8;
  const int64_t tables = align_up(align_up(mapped.value, page) / page, entries) / entries;
  return tables * page;
}

Result<AnonymousMapping> AnonymousMapping::try_make(Bytes size, PageKind kind) {
  PLIMSOLL_CHECK(size.value > 0, size.value);
  constexpr int64_t kMost = int64_t{1} << 46;  // a user's half of the address space is 2^47
  const int64_t rounded = size.value <= kMost ? align_up(size.value, page_bytes()) : 0;
  const bool is_huge = kind == PageKind::kHuge && rounded >= kHugePageBytes;
  std::byte* base = rounded == 0 ? nullptr : is_huge ? map_aligned(rounded) : map(rounded);
  if (base == nullptr)
    return Error{ErrorCode::kOutOfMemory,
                 "the system refuses to map " + to_string(size) + ": " + std::strerror(rounded == 0 ? ENOMEM : errno),
                 {}};
  // Only advice: where the kernel has no huge pages, small ones serve. The opposite is said too, for machines that
  // hand out huge pages unasked.
  const int64_t whole = is_huge ? rounded / kHugePageBytes * kHugePageBytes : rounded;
  madvise(base, static_cast<size_t>(whole), is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return AnonymousMapping(base, {rounded});
}

AnonymousMapping::~AnonymousMapping() { unmap(base_, size_.value); }

void AnonymousMapping::populate(ThreadPool& pool) {
  const int64_t page = page_bytes();
  pool.run((size_.value + kSliceBytes - 1) / kSliceBytes, [&](int64_t slice, int) {
    const int64_t end = std::min(size_.value, (slice + 1) * kSliceBytes);
    for (int64_t offset = slice * kSliceBytes; offset < end; offset += page) {
      // A store at once: a load first would map the shared page of zeros and make it two faults.
      reinterpret_cast<volatile uint8_t&>(base_[offset]) = 0;
    }
  });
}

}  // namespace plimsoll::hardware
