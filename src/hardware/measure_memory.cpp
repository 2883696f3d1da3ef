#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "core/philox.h"
#include "core/stopwatch.h"
#include "hardware/anonymous_mapping.h"
#include "hardware/measure.h"
#include "hardware/probe_memory.h"

namespace plimsoll::hardware {
namespace {

constexpr int64_t kLineBytes = 64;

/// Least seconds of one call of `pass`: one call to warm up, then as many as fit into the time, two at least.
template <class Pass>
double least_seconds(double time_limit, Pass pass) {
  pass();
  const Stopwatch watch;
  double least = 1e30;
  for (int count = 0; count < 3 || watch.seconds() < time_limit; ++count) {
    const Stopwatch pass_watch;
    pass();
    least = std::min(least, pass_watch.seconds());
    if (count >= 1 && watch.seconds() > 4 * time_limit) break;
  }
  return least;
}

/// Two words that SSE2 and NEON add at once: wide enough that the loop waits for memory, not for additions.
using Words = uint64_t __attribute__((vector_size(16)));

uint64_t sum_words(const std::byte* data, int64_t size) {
  Words sums[8] = {};
  for (int64_t offset = 0; offset + kLineBytes * 2 <= size; offset += kLineBytes * 2) {
    const auto* words = reinterpret_cast<const Words*>(data + offset);
    for (int i = 0; i < 8; ++i) sums[i] += words[i];
  }
  uint64_t sum = 0;
  for (const Words& part : sums) sum += part[0] + part[1];
  return sum;
}

/// Cuts `size` into one part a thread, at whole pages.
template <class Work>
void for_each_part(ThreadPool& pool, int threads, int64_t size, Work work) {
  const int64_t part = align_up((size + threads - 1) / threads, 4096);
  pool.run(threads, [&](int64_t task, int) {
    const int64_t start = std::min(size, task * part);
    work(start, std::min(size, start + part) - start);
  });
}

MemoryBandwidth measure_bandwidth(std::span<std::byte> memory, ThreadPool& pool, int threads, double time_limit) {
  const int64_t half = static_cast<int64_t>(memory.size()) / 2;
  std::byte* const src = memory.data();
  std::byte* const dst = memory.data() + half;
  std::atomic<uint64_t> sink{0};  // keeps the compiler from dropping the sums
  const double read_s = least_seconds(time_limit / 2, [&] {
    for_each_part(pool, threads, half, [&](int64_t start, int64_t size) { sink += sum_words(src + start, size); });
  });
  const double copy_s = least_seconds(time_limit / 2, [&] {
    for_each_part(pool, threads, half, [&](int64_t start, int64_t size) {
      std::memcpy(dst + start, src + start, static_cast<size_t>(size));
    });
  });
  const auto bytes = static_cast<double>(half);
  return {threads, {half}, {bytes / read_s}, {2 * bytes / copy_s}};
}

/// Writes one cycle through all cache lines in random order: each line holds the address of the next.
void link_lines(std::span<std::byte> memory) {
  std::vector<uint32_t> order(memory.size() / kLineBytes);
  std::iota(order.begin(), order.end(), 0u);
  const Philox random(order.size());
  for (size_t i = order.size() - 1; i > 0; --i) {
    const auto word = random(i, 0);
    std::swap(order[i], order[(uint64_t{word[0]} * (i + 1)) >> 32]);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    std::byte* const next = memory.data() + int64_t{order[(i + 1) % order.size()]} * kLineBytes;
    std::memcpy(memory.data() + int64_t{order[i]} * kLineBytes, &next, sizeof next);
  }
}

std::byte* chase(std::byte* line, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) std::memcpy(&line, line, sizeof(std::byte*));
  return line;
}

/// Each load's address is the value of the one before, so that nothing can overlap or be foreseen.
double measure_latency_ns(std::span<std::byte> memory, double time_limit) {
  link_lines(memory);
  constexpr int64_t kSteps = 50'000;
  std::byte* volatile line = memory.data();
  const auto warm_up = std::min<int64_t>(static_cast<int64_t>(memory.size()) / kLineBytes, 1'000'000);
  line = chase(line, warm_up);
  double least = 1e30;
  double total = 0;
  int64_t passes = 0;
  const Stopwatch watch;
  do {
    const Stopwatch pass_watch;
    line = chase(line, kSteps);
    const double seconds = pass_watch.seconds();
    least = std::min(least, seconds);
    total += seconds;
    ++passes;
  } while (watch.seconds() < time_limit);
  // In caches a pass is one of many equal ones and the least is undisturbed; in RAM each pass sees other lines.
  const bool is_revisited = static_cast<int64_t>(memory.size()) / kLineBytes <= kSteps;
  return (is_revisited ? least : total / static_cast<double>(passes)) / kSteps * 1e9;
}

/// The smallest cache that holds a working set, by the sizes that the processor reports.
std::string find_level(const Cores& cores, int64_t working_set) {
  for (const Cache& cache : cores.caches)
    if (working_set <= cache.size.value) return "L" + std::to_string(cache.level);
  return "RAM";
}

/// From 16 KiB in factors of four, and the largest: where the time jumps is the share of a cache that is really ours,
/// which on virtual machines is less than the size reported (measured: 4 of 32 MiB).
std::vector<int64_t> working_sets(int64_t largest) {
  std::vector<int64_t> sets;
  for (int64_t size = int64_t{16} << 10; size < largest; size *= 4) sets.push_back(size);
  sets.push_back(largest);
  return sets;
}

int64_t choose_working_set(const Cores& cores, const MeasureOptions& options) {
  if (options.working_set) return align_up(std::max(options.working_set->value, int64_t{1}), int64_t{2} << 20);
  int64_t last_cache = 0;
  for (const Cache& cache : cores.caches) last_cache = std::max(last_cache, cache.size.value);
  return align_up(std::clamp(4 * last_cache, int64_t{256} << 20, int64_t{2} << 30), int64_t{2} << 20);
}

/// Nanoseconds per 4 KiB.
double time_populate(AnonymousMapping& mapping, ThreadPool& pool) {
  const Stopwatch watch;
  mapping.populate(pool);
  return watch.seconds() * 1e9 / (static_cast<double>(mapping.size().value) / 4096);
}

}  // namespace

Result<MemoryMeasurement> try_measure_memory(const Cores& cores, ThreadPool& pool, const MeasureOptions& options) {
  const auto report = [&](std::string_view what, double share) {
    if (options.progress) options.progress(what, share);
  };
  const int64_t size = choose_working_set(cores, options);
  PLIMSOLL_ASSIGN(const RamReading ram, try_read_ram());
  if (ram.free.value < 2 * size)
    return Error{ErrorCode::kOutOfMemory,
                 "[machine] measuring needs " + to_string(Bytes{2 * size}) + " of RAM; " + to_string(ram.free) +
                     " are free (" + ram.free_bound_by + ")",
                 {}};
  MemoryMeasurement out;
  report("first touch", 0);
  {
    PLIMSOLL_ASSIGN(auto small, AnonymousMapping::try_make({size / 4}, PageKind::kSmall));
    out.first_touch.small_page_ns = time_populate(small, pool);
  }
  PLIMSOLL_ASSIGN(auto memory, AnonymousMapping::try_make({size}, PageKind::kHuge));
  out.first_touch.huge_page_ns = time_populate(memory, pool);
  report("bandwidth", 0.3);
  out.bandwidths.push_back(measure_bandwidth(memory.bytes(), pool, 1, options.seconds_per_figure));
  if (pool.threads() > 1)
    out.bandwidths.push_back(measure_bandwidth(memory.bytes(), pool, pool.threads(), options.seconds_per_figure));
  const std::vector<int64_t> sets = working_sets(size);
  for (const int64_t set : sets) {
    report("latency", 0.5 + 0.5 * static_cast<double>(out.latencies.size()) / static_cast<double>(sets.size()));
    const auto part = memory.bytes().first(static_cast<size_t>(set));
    out.latencies.push_back({{set}, measure_latency_ns(part, options.seconds_per_figure / 2), find_level(cores, set)});
  }
  report("memory", 1);
  return out;
}

Result<MemoryBandwidth> try_measure_bandwidth(Bytes working_set, ThreadPool& pool, double seconds) {
  PLIMSOLL_ASSIGN(auto memory, AnonymousMapping::try_make(working_set, PageKind::kHuge));
  memory.populate(pool);
  return measure_bandwidth(memory.bytes(), pool, pool.threads(), seconds);
}

void set_measured(const MemoryMeasurement& memory, Machine& machine) {
  PLIMSOLL_CHECK(!memory.bandwidths.empty() && !memory.latencies.empty(), "nothing was measured");
  const SpaceId host = machine.find_space(Space::kHost);
  if (!host.is_valid()) return;
  MemorySpace& space = machine.spaces[host.index()];
  const MemoryBandwidth& all = memory.bandwidths.back();
  space.read_bandwidth = all.read;
  space.write_bandwidth = {all.copy.value / 2};  // what a copy writes; stores alone are not measured
  space.latency_ns = memory.latencies.back().latency_ns;
  for (Device& device : machine.devices)
    if (device.kind == DeviceKind::kCpu && device.space == host) device.memory_bandwidth = std::max(all.read, all.copy);
}

}  // namespace plimsoll::hardware
