#include "allocation_probe/allocation_probe.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

// What glibc's own functions are called beneath the names that are replaced here.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

namespace plimsoll::allocation_probe {
namespace {

enum class Owner : uint8_t { kExecutable, kLibrary, kRuntime };

/// One loaded file; address ranges are noted at start() so that no lookup allocates or locks.
struct Module {
  char name[64] = "unknown";
  Owner owner = Owner::kLibrary;
  uintptr_t base = 0;
  uintptr_t first = 0;
  uintptr_t last = 0;
  std::atomic<int64_t> calls{0};
  std::atomic<int64_t> bytes{0};
  std::atomic<int64_t> largest{0};
};

constexpr int kMaxModules = 128;
constexpr int kMaxFrames = 32;
constexpr int kMaxSites = 16;

struct Site {
  const char* function = nullptr;
  int64_t bytes = 0;
  int frames = 0;
  std::array<void*, 8> stack{};
};

std::atomic<bool> counting{false};
/// Row 0 stands for addresses in no loaded file.
Module modules[kMaxModules];
int module_count = 1;
Site sites[kMaxSites];
std::atomic<int> site_count{0};
thread_local bool is_inside = false;

bool is_runtime(const char* name) {
  for (const char* prefix : {"libc.so", "libc-", "libstdc++", "libgcc_s", "ld-linux", "libm.so", "libpthread"})
    if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return true;
  return false;
}

int note_module(dl_phdr_info* info, size_t, void*) {
  if (module_count == kMaxModules) return 1;
  Module& module = modules[module_count];
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* name = slash != nullptr ? slash + 1 : info->dlpi_name;
  // The loader lists the executable first, without a name.
  module.owner = module_count == 1 ? Owner::kExecutable : is_runtime(name) ? Owner::kRuntime : Owner::kLibrary;
  std::snprintf(module.name, sizeof module.name, "%s", module_count == 1 ? "executable" : name);
  module.base = info->dlpi_addr;
  module.first = UINTPTR_MAX;
  module.last = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    module.first = std::min<uintptr_t>(module.first, info->dlpi_addr + segment.p_vaddr);
    module.last = std::max<uintptr_t>(module.last, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  ++module_count;
  return 0;
}

Module& find_module(const void* address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  for (int i = 1; i < module_count; ++i)
    if (place >= modules[i].first && place < modules[i].last) return modules[i];
  return modules[0];
}

/// The innermost module from `frames[first]` outwards that is not part of the C or C++ library.
Module& find_owner(void* const* frames, int first, int count) {
  for (int i = first; i < count; ++i) {
    Module& module = find_module(frames[i]);
    if (module.owner != Owner::kRuntime) return module;
  }
  return modules[0];
}

void note_site(const char* function, int64_t bytes, void* const* frames, int count) {
  const int index = site_count.fetch_add(1);
  if (index >= kMaxSites) return;
  Site& site = sites[index];
  site = {function, bytes, std::min(count, static_cast<int>(site.stack.size())), {}};
  std::copy_n(frames, site.frames, site.stack.begin());
}

void add(Module& module, int64_t bytes) {
  module.calls += 1;
  module.bytes += bytes;
  int64_t largest = module.largest;
  while (bytes > largest && !module.largest.compare_exchange_weak(largest, bytes)) {
  }
}

/// `caller` is the return address of the replaced function: the frames before it are this file's.
__attribute__((noinline)) void count_call(const char* function, size_t size, void* caller) {
  if (!counting || is_inside) return;
  is_inside = true;
  const int saved_errno = errno;
  void* frames[kMaxFrames];
  const int count = backtrace(frames, kMaxFrames);
  const int first = static_cast<int>(std::find(frames, frames + count, caller) - frames);
  Module& owner = first < count ? find_owner(frames, first, count) : find_owner(&caller, 0, 1);
  add(owner, static_cast<int64_t>(size));
  if (owner.owner == Owner::kExecutable) note_site(function, static_cast<int64_t>(size), frames + first, count - first);
  errno = saved_errno;
  is_inside = false;
}

std::string describe_frame(void* address) {
  const Module& module = find_module(address);
  char offset[96];
  std::snprintf(offset, sizeof offset, "%s+0x%lx", module.name,
                static_cast<unsigned long>(reinterpret_cast<uintptr_t>(address) - module.base));
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_sname == nullptr) return offset;
  int status = 0;
  char* demangled = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  std::string text = std::string(status == 0 ? demangled : info.dli_sname) + " (" + offset + ")";
  std::free(demangled);
  return text;
}

std::string describe(const Site& site) {
  std::string text = std::string(site.function) + " of " + std::to_string(site.bytes) + " bytes";
  for (int i = 0; i < site.frames; ++i) text += "\n    " + describe_frame(site.stack[static_cast<size_t>(i)]);
  return text;
}

void add_counts(Counts& sum, const Counts& part) {
  sum.calls += part.calls;
  sum.bytes += part.bytes;
  sum.largest_bytes = std::max(sum.largest_bytes, part.largest_bytes);
}

void* allocate_or_throw(size_t size, size_t alignment) {
  while (true) {
    void* block = alignment == 0 ? __libc_malloc(size) : __libc_memalign(alignment, size);
    if (block != nullptr) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

void start() {
  void* frame = nullptr;
  backtrace(&frame, 1);  // its first call loads the unwinder
  module_count = 1;
  dl_iterate_phdr(note_module, nullptr);
  for (Module& module : modules) module.calls = module.bytes = module.largest = 0;
  site_count = 0;
  counting = true;
}

Report stop() {
  counting = false;
  Report report;
  for (int i = 0; i < module_count; ++i) {
    const Module& module = modules[i];
    const Counts counts{module.calls, module.bytes, module.largest};
    if (counts.calls == 0) continue;
    if (module.owner == Owner::kExecutable) {
      report.ours = counts;
    } else {
      add_counts(report.libraries, counts);
      report.by_library.push_back({module.name, counts});
    }
  }
  for (int i = 0; i < std::min(site_count.load(), kMaxSites); ++i) report.our_first_calls.push_back(describe(sites[i]));
  return report;
}

}  // namespace plimsoll::allocation_probe

using plimsoll::allocation_probe::allocate_or_throw;
using plimsoll::allocation_probe::count_call;

extern "C" {

void* malloc(size_t size) {
  count_call("malloc", size, __builtin_return_address(0));
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  count_call("calloc", count * size, __builtin_return_address(0));
  return __libc_calloc(count, size);
}

void* realloc(void* block, size_t size) {
  count_call("realloc", size, __builtin_return_address(0));
  return __libc_realloc(block, size);
}

void* memalign(size_t alignment, size_t size) {
  count_call("memalign", size, __builtin_return_address(0));
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  count_call("aligned_alloc", size, __builtin_return_address(0));
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  count_call("posix_memalign", size, __builtin_return_address(0));
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* block = __libc_memalign(alignment, size);
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}

// NOLINTBEGIN(performance-no-int-to-ptr): the system's answer is a number
void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  count_call("mmap", size, __builtin_return_address(0));
  const long mapped = syscall(SYS_mmap, address, size, protection, flags, file, offset);
  return reinterpret_cast<void*>(mapped);  // syscall turns errors into -1, which is MAP_FAILED
}

void* mmap64(void* address, size_t size, int protection, int flags, int file, off64_t offset) noexcept {
  count_call("mmap", size, __builtin_return_address(0));
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, file, offset));
}
// NOLINTEND(performance-no-int-to-ptr)

}  // extern "C"

// The library's own operators would call malloc from inside libstdc++; these keep the caller in sight. Its other forms
// end in these two, and its operator delete frees what they give.
void* operator new(size_t size) {
  count_call("operator new", size, __builtin_return_address(0));
  return allocate_or_throw(size, 0);
}

void* operator new(size_t size, std::align_val_t alignment) {
  count_call("operator new", size, __builtin_return_address(0));
  return allocate_or_throw(size, static_cast<size_t>(alignment));
}
