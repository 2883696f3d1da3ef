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

/// By backend and number of threads.
struct KnownRates {
  std::mutex mutex;
  std::map<std::pair<std::string, int>, Rates> by_kind;
};

KnownRates& known_rates() {
  static KnownRates known;
  return known;
}

std::pair<std::string, int> key_of(Environment& environment) {
  return {environment.backend().describe().kind, environment.pool().threads()};
}

}  // namespace

Rates measure_rates(Environment& environment, Bytes ram) {
  KnownRates& known = known_rates();
  const std::scoped_lock lock(known.mutex);
  const auto key = key_of(environment);
  const auto it = known.by_kind.find(key);
  return it != known.by_kind.end() ? it->second : known.by_kind.emplace(key, measure(environment, ram)).first->second;
}

Rates measure_rates_again(Environment& environment, std::span<std::byte> memory) {
  KnownRates& known = known_rates();
  const std::scoped_lock lock(known.mutex);
  Rates& rates = known.by_kind[key_of(environment)];
  if (environment.backend().describe().kind != "reference")
    rates.flops_per_s = std::max(rates.flops_per_s, measure_matmul_flops(environment, memory));
  return rates;
}

}  // namespace plimsoll::engine
