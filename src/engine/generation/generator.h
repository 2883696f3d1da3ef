#pragma once

#include <memory>
#include <string>

#include "engine/generation/generate.h"
#include "engine/run_file/model_choice.h"
#include "memory/arena.h"

namespace plimsoll::engine {

/// A trained model ready to generate: only its parameters and caches are in memory.
class Generator {
 public:
  /// `folder` is a run folder, of which the newest checkpoint is taken, or one checkpoint inside it.
  ///
  /// Errors: infeasible where `ram`, for the whole process, is too small; io where there is no checkpoint; corrupt
  /// where it is damaged; unsupported for a model that cannot generate.
  /// `batch`: how many texts go together, each with caches of its own.
  static Result<std::unique_ptr<Generator>> make(const std::string& folder, Environment& environment, Bytes ram,
                                                 int64_t batch = 1);

  /// That a damaged checkpoint was passed over; mostly empty.
  const std::string& warning() const { return warning_; }

  /// As engine::generate.
  Result<std::vector<Generation>> generate(std::span<const std::string> prompts, int64_t tokens,
                                           const SamplingOptions& options, OnText on_text);

 private:
  Generator() = default;

  std::string warning_;
  ModelChoice model_;
  std::unique_ptr<data::Tokenizer> tokenizer_;
  CompiledProgram program_;
  std::unique_ptr<memory::Arena> arena_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace plimsoll::engine
