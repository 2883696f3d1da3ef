#include "hardware/probe_cores.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "hardware/control_group.h"

namespace plimsoll::hardware {
namespace {

std::string trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

/// x86 says "model name"; some Arm kernels say "Processor" or nothing.
std::string read_model(const SystemRoot& root) {
  const std::string text = try_read_text(root.path("/proc/cpuinfo")).value_or("");
  for (std::string_view line : split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string key = trim(line.substr(0, colon));
    if (key == "model name" || key == "Processor") return trim(line.substr(colon + 1));
  }
  return "unknown";
}

std::string cpu_folder(const SystemRoot& root, int cpu) {
  return root.path("/sys/devices/system/cpu/cpu" + std::to_string(cpu));
}

/// Hardware threads of one core list the same siblings; a CPU without the file counts as a core of its own.
int count_physical(const SystemRoot& root, std::span<const int> affinity) {
  std::set<std::string> cores;
  for (int cpu : affinity)
    cores.insert(
        trim(try_read_text(cpu_folder(root, cpu) + "/topology/thread_siblings_list").value_or(std::to_string(cpu))));
  return static_cast<int>(cores.size());
}

std::optional<Cache> read_cache(const std::string& folder) {
  const std::string type = trim(try_read_text(folder + "/type").value_or(""));
  if (type != "Data" && type != "Unified") return std::nullopt;
  const auto level = try_read_number(folder + "/level");
  const auto size = try_parse_bytes(trim(try_read_text(folder + "/size").value_or("")));
  if (!level || !size.ok()) return std::nullopt;
  const auto sharers = parse_cpu_list(try_read_text(folder + "/shared_cpu_list").value_or(""));
  return Cache{static_cast<int>(*level), *size, std::max(1, static_cast<int>(sharers.size()))};
}

/// Where /sys lists no caches (some containers and sandboxes), the C library's figures of cpuid stand in.
std::vector<Cache> read_caches_from_libc() {
  std::vector<Cache> caches;
  const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  for (int i = 0; i < 3; ++i)
    if (const long size = sysconf(names[i]); size > 0) caches.push_back({i + 1, {size}, 1});
  return caches;
}

std::vector<Cache> read_caches(const SystemRoot& root, int cpu) {
  std::vector<Cache> caches;
  for (int index = 0; index < 8; ++index)
    if (auto cache = read_cache(cpu_folder(root, cpu) + "/cache/index" + std::to_string(index)))
      caches.push_back(*cache);
  std::sort(caches.begin(), caches.end(), [](const Cache& a, const Cache& b) { return a.level < b.level; });
  return caches.empty() && root.prefix.empty() ? read_caches_from_libc() : caches;
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (std::string_view range : split(text, ',')) {
    const auto first = try_parse_number(range);
    if (!first) continue;
    const size_t dash = range.find('-');
    const auto last = dash == std::string_view::npos ? first : try_parse_number(range.substr(dash + 1));
    // 65,536 CPUs is far above what Linux supports; a damaged list must not fill memory.
    for (int64_t cpu = *first; last && cpu <= *last && cpu < 65536; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

std::vector<int> probe_affinity() {
  std::vector<int> cpus;
  // The kernel refuses masks smaller than its own, so grow until it agrees.
  for (int size = 1024; size <= 65536; size *= 2) {
    cpu_set_t* set = CPU_ALLOC(size);
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(size);
    const bool is_read = sched_getaffinity(0, bytes, set) == 0;
    for (int cpu = 0; is_read && cpu < size; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(cpu);
    CPU_FREE(set);
    if (is_read) break;
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

Cores probe_cores(const SystemRoot& root, std::span<const int> affinity) {
  Cores cores;
  cores.model = read_model(root);
  cores.logical = std::max(1, static_cast<int>(affinity.size()));
  cores.physical = std::max(1, count_physical(root, affinity));
  cores.quota = try_read_cpu_quota(root);
  cores.usable = cores.logical;
  if (cores.quota && *cores.quota < cores.logical)
    cores.usable = std::max(1, static_cast<int>(std::ceil(*cores.quota)));
  cores.caches = read_caches(root, affinity.empty() ? 0 : affinity.front());
  return cores;
}

}  // namespace plimsoll::hardware
