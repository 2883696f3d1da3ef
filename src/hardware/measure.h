#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.h"
#include "core/result.h"
#include "core/thread_pool.h"
#include "hardware/machine.h"

namespace plimsoll::hardware {

/// How long to measure and whom to tell.
struct MeasureOptions {
  /// For each figure by itself; a figure takes at least one pass, however long that is.
  double seconds_per_figure = 0.4;
  /// For RAM's figures, in place of 256 MiB or 4 times the last cache, whichever is more. A smaller one measures
  /// caches.
  std::optional<Bytes> working_set = std::nullopt;
  /// Called now and then with what is being measured and the share done, 0 to 1. May be empty.
  std::function<void(std::string_view what, double share)> progress = nullptr;
};

/// Bandwidth of RAM with so many threads.
struct MemoryBandwidth {
  int threads = 1;
  Bytes array;          ///< of each array; far above the last cache
  BytesPerSecond read;  ///< bytes read a second
  BytesPerSecond copy;  ///< bytes read plus bytes written a second
};

/// Time of one dependent load at a random place in a working set.
struct AccessLatency {
  Bytes working_set;
  double latency_ns = 0;
  std::string level;  ///< "L1", "L2", "L3", "RAM": the smallest that holds the working set, by reported sizes
};

/// What touching fresh memory costs.
struct FirstTouch {
  double small_page_ns = 0;  ///< per 4-KiB page, small pages
  double huge_page_ns = 0;   ///< per 4 KiB of memory, huge pages where the kernel gives them
};

/// All figures of RAM.
struct MemoryMeasurement {
  FirstTouch first_touch;                   ///< all threads
  std::vector<MemoryBandwidth> bandwidths;  ///< one thread, then all
  std::vector<AccessLatency> latencies;     ///< from 16 KiB up in factors of four; the last is RAM's
};

/// Measures RAM with the threads of `pool`. Bandwidths are the best of several passes.
///
/// Memory: a working set of 256 MiB, or 4 times the last cache where that is more (at most 2 GiB), given back at the
/// end. Errors: out_of_memory where less than twice that is free. Cost: about 4 s with the default options.
Result<MemoryMeasurement> try_measure_memory(const Cores& cores, ThreadPool& pool, const MeasureOptions& options = {});

/// Measures bandwidth alone, with all threads of `pool`: half of `working_set` read, and copied to the other half. One
/// below four times the last cache measures caches in part.
///
/// Memory: `working_set` and its page tables, given back at the end. Errors: out_of_memory. Requires: working_set > 0.
/// Cost: `seconds`, and the first touch of the working set.
Result<MemoryBandwidth> try_measure_bandwidth(Bytes working_set, ThreadPool& pool, double seconds);

/// Figures of a file system.
struct DiskMeasurement {
  Bytes size;
  BytesPerSecond read;
  BytesPerSecond write;                       ///< to the device: flushed before the clock stops
  double latency_ns = 0;                      ///< median of single 4-KiB reads at random places
  std::optional<std::string> cached_because;  ///< set where the page cache could not be passed by: why
};

/// Writes and reads back a file in `folder` with O_DIRECT, in blocks of 4 MiB, one at a time. The file has no name, so
/// that it is gone however the process ends.
///
/// Errors: io where the folder can't be written, or holds less than twice `size`. Cost: each direction stops after the
/// time of one figure.
Result<DiskMeasurement> try_measure_disk(const std::string& folder, Bytes size = mebibytes(256),
                                         const MeasureOptions& options = {});

/// Puts measured figures into the machine's spaces, its disk link and its CPU device.
void set_measured(const MemoryMeasurement& memory, Machine& machine);
void set_measured(const DiskMeasurement& disk, Machine& machine);

}  // namespace plimsoll::hardware
