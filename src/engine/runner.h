#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "engine/compile.h"
#include "runtime/executor.h"

namespace plimsoll::engine {

/// A compiled program bound to memory, fed and read by name.
class Runner {
 public:
  /// Requires: `arena` has at least the program's bytes, and outlives the runner, as do program and environment.
  Runner(const CompiledProgram& compiled, Environment& environment, std::byte* arena);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Sets a step scalar; ignored where the program has none of that name. "microbatch" is set by the runner itself.
  void set_scalar(std::string_view name, float value);
  void set_scalar(std::string_view name, int64_t value);

  /// Names the host memory from which input `name` is fed: iteration i reads at data + i · stride_bytes. It must stay
  /// valid while `run` runs. Ignored where the program has no such input.
  void set_feed(std::string_view name, const void* data, int64_t stride_bytes = 0);

  /// Runs the program once: all segments with all their iterations. Returns: whether every checked number was finite,
  /// and which check failed first. `trace` hears of each instruction. Memory: allocates nothing of its own.
  runtime::Outcome run(TraceSink* trace = nullptr);

  /// The bytes of an output; valid until any program runs again in the same arena. Requires: the output exists.
  const std::byte* output(std::string_view name) const;
  /// The value of an output of one f32. Requires: there is one of that name.
  float scalar_output(std::string_view name) const;
  bool has_output(std::string_view name) const { return find_output(name) != nullptr; }

  runtime::Executor& executor() { return executor_; }
  const CompiledProgram& compiled() const { return compiled_; }
  /// What the executor calls for each feed instruction.
  const void* feed(runtime::InstructionId id, int64_t iteration);

 private:
  struct Feed {
    const std::byte* data = nullptr;
    int64_t stride_bytes = 0;
  };
  std::byte* scalar(std::string_view name);
  const program::Output* find_output(std::string_view name) const;

  const CompiledProgram& compiled_;
  runtime::Executor executor_;
  std::vector<int64_t> scalars_;                    ///< 8 bytes each
  std::map<std::string, Feed, std::less<>> feeds_;  ///< by label
  std::vector<std::vector<Feed*>> feed_of_;         ///< by segment and instruction
  int64_t* microbatch_ = nullptr;
};

}  // namespace plimsoll::engine
