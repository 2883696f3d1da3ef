#pragma once

#include <functional>
#include <string>

#include "core/result.h"

namespace plimsoll::engine {

/// The settings of a job that decide its memory and that a user can change.
struct JobSize {
  int64_t batch = 1;         ///< samples of a microbatch
  int64_t microbatches = 1;  ///< in an update
  int64_t seq = 1;           ///< tokens of a sample
  std::string optimizer = "adamw";
  std::string tokenizer{};  ///< "sentencepiece" where one is trained; "" where there is none
  friend bool operator==(const JobSize&, const JobSize&) = default;
};

/// A job as one command runs it.
struct Job {
  JobSize size;
  /// The least budget for another size, by planning it. An error: it cannot be planned.
  std::function<Result<int64_t>(const JobSize& other)> needed_bytes;
  /// What the user types to get another size, all that differs, or "" where the command has no option for it.
  std::function<std::string(const JobSize& other)> option;
};

/// What to add to the command line of a run file to get from one size to another: "--set key=value …".
std::string run_file_options(const JobSize& now, const JobSize& other);

/// Adds to a refusal what would help, the largest saving first: a batch of 1 (an update stays as large where the
/// command has microbatches), half the sequence, an optimizer without moments, a tokenizer that needs no training. Each
/// change is planned by itself, so that what the refusal promises is what the change gives. Where none is enough, the
/// first remedy is several of them together: as many as it takes, or all.
///
/// Returns: `error` as it is, unless it is infeasible. Cost: up to seven plans.
Error with_remedies(const Error& error, const Job& job);

}  // namespace plimsoll::engine
