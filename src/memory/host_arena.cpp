#include <string>

#include "core/checked.h"
#include "core/stopwatch.h"
#include "hardware/anonymous_mapping.h"
#include "hardware/probe_memory.h"
#include "memory/arena.h"

namespace plimsoll::memory {
namespace {

class HostArena : public Arena {
 public:
  HostArena(Bytes size, hardware::AnonymousMapping mapping, double populate_seconds)
      : Arena(Space::kHost, size, mapping.data(), populate_seconds), mapping_(std::move(mapping)) {}

 private:
  hardware::AnonymousMapping mapping_;
};

class EmptyArena : public Arena {
 public:
  EmptyArena() : Arena(Space::kHost, {}, nullptr, 0) {}
};

Error out_of_memory(Bytes size, const std::string& why) {
  return {ErrorCode::kOutOfMemory,
          "[arena] needs " + to_string(size) + " (" + std::to_string(size.value) + " bytes) of RAM; " + why,
          {}};
}

/// An unreadable /proc is no reason to refuse: then the kernel has the say.
Status check_free(Bytes size) {
  const auto ram = hardware::try_read_ram();
  return ram.ok() ? check_host_arena(size, ram->free, ram->free_bound_by) : Status();
}

}  // namespace

Result<Bytes> try_host_arena_cost(Bytes size) {
  PLIMSOLL_CHECK(size.value >= 0, size.value);
  const auto pages = checked_align_up(size.value, hardware::page_bytes());
  const auto all = pages ? checked_add(*pages, hardware::page_table_bytes(size)) : std::nullopt;
  if (!all) return out_of_memory(size, "no machine has as much");
  return Bytes{*all};
}

Status check_host_arena(Bytes size, Bytes free, const std::string& bound_by) {
  PLIMSOLL_ASSIGN(const Bytes cost, try_host_arena_cost(size));
  if (cost <= free) return {};
  return out_of_memory(size, "with whole pages and page tables " + std::to_string(cost.value) + " bytes; " +
                                 to_string(free) + " (" + std::to_string(free.value) + " bytes) are free by " +
                                 bound_by);
}

Result<std::unique_ptr<Arena>> try_make_host_arena(Bytes size, ThreadPool& pool) {
  PLIMSOLL_CHECK(size.value >= 0, size.value);
  if (size.value == 0) return std::unique_ptr<Arena>(std::make_unique<EmptyArena>());
  PLIMSOLL_RETURN_IF_ERROR(check_free(size));
  auto mapping = hardware::AnonymousMapping::try_make(size, hardware::PageKind::kHuge);
  if (!mapping.ok()) return out_of_memory(size, mapping.error().message);
  const Stopwatch watch;
  mapping->populate(pool);
  return std::unique_ptr<Arena>(std::make_unique<HostArena>(size, *std::move(mapping), watch.seconds()));
}

}  // namespace plimsoll::memory
