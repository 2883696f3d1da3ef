#include "engine/environment/calibration.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "engine/environment/matmul_rate.h"
#include "hardware/measure.h"
#include "hardware/probe_cores.h"

namespace plimsoll::engine {
namespace {

constexpr double kCopySeconds = 0.1;
constexpr Bytes kLeastSet = mebibytes(4);
constexpr Bytes kMostSet = mebibytes(64);
/// The process itself at that time; measured: 17 MiB with a small plan.
constexpr Bytes kHeld = mebibytes(24);

/// Large enough that caches do not hold it, where the budget allows that.
Bytes choose_working_set(Bytes ram) {
  Bytes wanted = kMostSet;
  for (const hardware::Cache& cache : hardware::probe_cores({}, hardware::probe_affinity()).caches)
    wanted = std::max(wanted, Bytes{2 * cache.size.value});
  return std::max(kLeastSet, std::min(wanted, ram - kHeld));
}

Rates measure(Environment& environment, Bytes ram) {
  Rates rates;
  if (environment.backend().describe().kind == "reference") return rates;
  if (const double flops = measure_matmul_flops(environment); flops > 0) rates.flops_per_s = flops;
  const auto copy = hardware::try_measure_bandwidth(choose_working_set(ram), environment.pool(), kCopySeconds);
  if (copy.ok()) rates.bytes_per_s = copy->copy.value;
  return rates;
}

}  // namespace

Rates measure_rates(Environment& environment, Bytes ram) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, int>, Rates> known;
  const std::scoped_lock lock(mutex);
  const std::pair key(environment.backend().describe().kind, environment.pool().threads());
  const auto it = known.find(key);
  return it != known.end() ? it->second : known.emplace(key, measure(environment, ram)).first->second;
}

}  // namespace plimsoll::engine
