#include "engine/remedies.h"

#include <algorithm>
#include <vector>

namespace plimsoll::engine {
namespace {

/// Masked batches take no shorter ones, and who halves a sequence of 8 has another problem.
constexpr int64_t kLeastSeq = 8;

std::vector<JobSize> smaller_jobs(const JobSize& size) {
  std::vector<JobSize> out;
  if (size.batch > 1) {
    JobSize& other = out.emplace_back(size);
    other.batch = 1;
    other.microbatches = size.batch * size.microbatches;
  }
  if (size.seq / 2 >= kLeastSeq) out.emplace_back(size).seq = size.seq / 2;
  if (size.optimizer != "sgd") out.emplace_back(size).optimizer = "sgd";
  if (size.tokenizer == "sentencepiece") out.emplace_back(size).tokenizer = "bytes";
  return out;
}

}  // namespace

Error with_remedies(const Error& error, const Job& job) {
  if (!error.infeasible) return error;
  auto why = std::make_shared<Infeasible>(*error.infeasible);
  for (const JobSize& other : smaller_jobs(job.size)) {
    const std::string option = job.option(other);
    if (option.empty()) continue;
    const Result<int64_t> needed = job.needed_bytes(other);
    if (needed.ok() && *needed < why->needed_bytes) why->remedies.push_back({option, why->needed_bytes - *needed});
  }
  std::ranges::stable_sort(why->remedies, std::ranges::greater{}, &Infeasible::Remedy::saved_bytes);
  return {error.code, error.message, why};
}

}  // namespace plimsoll::engine
