#include "engine/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace plimsoll::engine {
namespace {

/// Masked batches take no shorter ones, and who halves a sequence of 8 has another problem.
constexpr int64_t kLeastSeq = 8;

using Change = void (*)(JobSize& size);

/// Each leaves a size as it is that it cannot make smaller.
constexpr Change kChanges[] = {
    [](JobSize& size) {
      size.microbatches *= size.batch;
      size.batch = 1;
    },
    [](JobSize& size) {
      if (size.seq / 2 >= kLeastSeq) size.seq /= 2;
    },
    [](JobSize& size) { size.optimizer = "sgd"; },
    [](JobSize& size) {
      if (size.tokenizer == "sentencepiece") size.tokenizer = "bytes";
    },
};

/// A change with what it gives.
struct Remedy {
  Change change;
  Infeasible::Remedy text;
};

/// What is saved by another size; nothing where the command has no option for it, or where it saves nothing.
std::optional<Infeasible::Remedy> try_size(const Job& job, const JobSize& other, int64_t needed_bytes) {
  std::string option = job.option(other);
  if (other == job.size || option.empty()) return std::nullopt;
  const Result<int64_t> needed = job.needed_bytes(other);
  if (!needed.ok() || *needed >= needed_bytes) return std::nullopt;
  return Infeasible::Remedy{std::move(option), needed_bytes - *needed};
}

/// The fewest of the changes, largest saving first, that together are enough, or all of them.
std::optional<Infeasible::Remedy> combine(const Job& job, const std::vector<Remedy>& remedies, const Infeasible& why) {
  std::optional<Infeasible::Remedy> together;
  JobSize size = job.size;
  remedies.front().change(size);
  for (const Remedy& remedy : std::span(remedies).subspan(1)) {
    remedy.change(size);
    together = try_size(job, size, why.needed_bytes);
    if (together && why.needed_bytes - together->saved_bytes <= why.budget_bytes) break;
  }
  return together;
}

}  // namespace

std::string run_file_options(const JobSize& now, const JobSize& size) {
  std::vector<std::string> parts;
  if (size.batch != now.batch)
    parts.push_back(fmt::format("--set train.batch_size={} --set train.accumulate={}", size.batch, size.microbatches));
  if (size.seq != now.seq) parts.push_back(fmt::format("--set data.seq_len={}", size.seq));
  if (size.optimizer != now.optimizer) parts.push_back("--set optimizer.name=" + size.optimizer);
  if (size.tokenizer != now.tokenizer) parts.push_back("--set data.tokenizer=" + size.tokenizer);
  return fmt::format("{}", fmt::join(parts, " "));
}

Error with_remedies(const Error& error, const Job& job) {
  if (!error.infeasible) return error;
  auto why = std::make_shared<Infeasible>(*error.infeasible);
  std::vector<Remedy> remedies;
  for (const Change change : kChanges) {
    JobSize other = job.size;
    change(other);
    if (auto remedy = try_size(job, other, why->needed_bytes)) remedies.push_back({change, std::move(*remedy)});
  }
  std::ranges::stable_sort(remedies, std::ranges::greater{}, [](const Remedy& r) { return r.text.saved_bytes; });
  for (const Remedy& remedy : remedies) why->remedies.push_back(remedy.text);
  const bool is_enough =
      !remedies.empty() && why->needed_bytes - remedies.front().text.saved_bytes <= why->budget_bytes;
  if (remedies.size() > 1 && !is_enough)
    if (auto together = combine(job, remedies, *why)) why->remedies.insert(why->remedies.begin(), std::move(*together));
  return {error.code, error.message, why};
}

}  // namespace plimsoll::engine
