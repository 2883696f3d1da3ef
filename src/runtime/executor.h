#pragma once

#include <array>
#include <vector>

#include "backends/api/backend.h"
#include "core/function_ref.h"
#include "core/trace_sink.h"
#include "program/program.h"

namespace plimsoll::runtime {

/// What a program is bound to. All of it outlives the executor.
struct Binding {
  std::vector<const backends::Kernel*> kernels;  ///< by program kernel
  std::array<std::byte*, kSpaceCount> arenas{};  ///< where each space's offset 0 is; null where it is not used
  backends::Backend* backend = nullptr;
};

/// Whether an executor can run all instructions of a program: one without lanes to the disk cannot read or write there.
/// Errors: unsupported, with the first that it cannot.
Status check_executable(const program::Program& program);

/// Names one instruction of a program.
struct InstructionId {
  int segment = 0;
  int index = 0;
  friend bool operator==(const InstructionId&, const InstructionId&) = default;
};

/// How a step ended.
struct Outcome {
  bool is_finite = true;
  InstructionId failed_check{};  ///< where `is_finite` is false: nothing after this instruction ran
};

/// Returns the bytes to feed under instruction `feed`'s label in that iteration; they stay valid until the step ends.
using FeedSource = FunctionRef<const void*(InstructionId feed, int64_t iteration)>;

/// Runs the instructions of one program, in an order that respects lanes and waits.
///
/// Memory: everything is allocated in the constructor; `run` allocates nothing. Order: not thread-safe; kernels use the
/// backend's pool.
class Executor {
 public:
  /// Requires: the program passed the checker and check_executable, and `binding` has its kernels and its arenas.
  Executor(const program::Program& program, Binding binding);

  /// Executes all segments.
  Outcome run(FeedSource feed, TraceSink* trace = nullptr);

  /// Executes one instruction of one iteration, if its `when` says so; false if a check found a number not finite.
  bool run_one(InstructionId id, int64_t iteration, FeedSource feed);

  const program::Program& program() const { return program_; }

  /// Where a residence is in that iteration.
  std::byte* address(int residence, int64_t iteration = 0) const;
  /// Where an operand is in that iteration.
  std::byte* address(const program::Operand& operand, int64_t iteration) const;

 private:
  void launch(const program::Instruction& instruction, int64_t iteration);

  const program::Program& program_;
  Binding binding_;
  std::vector<const void*> srcs_;  ///< scratch for one launch
  std::vector<void*> dsts_;
};

}  // namespace plimsoll::runtime
