#include "engine/environment/environment.h"

#include "backends/cpu/cpu_backend.h"
#include "backends/reference/reference_backend.h"
#include "engine/environment/processor.h"
#include "hardware/probe_cores.h"

namespace plimsoll::engine {

Result<std::unique_ptr<Environment>> Environment::make(const Options& options) {
  if (options.threads < 0 || options.threads > kMostThreads)
    return invalid_argument("threads is " + std::to_string(options.threads) + "; expected 0 (all) to " +
                            std::to_string(kMostThreads));
  if (!options.reference) PLIMSOLL_RETURN_IF_ERROR(check_processor(hardware::probe_instruction_sets()));
  const int usable = hardware::probe_cores({}, hardware::probe_affinity()).usable;
  const int threads = options.threads > 0 ? options.threads : usable;
  std::unique_ptr<Environment> out(new Environment(threads, options.reference, options.rates));
  if (threads > usable)
    out->warning_ = std::to_string(threads) + " threads share " + std::to_string(usable) + " usable core" +
                    (usable == 1 ? "" : "s") + ": the same results, but slower than with as many threads as cores";
  return out;
}

Environment::Environment(int threads, bool reference, Rates rates)
    : ops_(ops::make_op_table()),
      pool_(threads),
      reference_(backends::reference::make_reference_backend(ops_, pool_)),
      cpu_(backends::cpu::make_cpu_backend(pool_)),
      backend_(reference ? reference_.get() : cpu_.get()),
      catalogue_(std::make_unique<Catalogue>(ops_, *backend_, *reference_, rates)) {}

}  // namespace plimsoll::engine
