#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "core/trace_sink.h"
#include "program/program.h"

namespace plimsoll::report {

/// One instruction's run. Times in nanoseconds of the steady clock.
struct TraceSpan {
  int64_t step = 0;
  int32_t segment = 0;
  int32_t index = 0;  ///< in the segment
  int64_t iteration = 0;
  int32_t lane = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  friend bool operator==(const TraceSpan&, const TraceSpan&) = default;
};

/// What a recorder may hold beside the plan: 3 MiB of spans, some 10 MB of trace.json. A step of very many microbatches
/// has more.
inline constexpr int64_t kMostSpans = 1 << 16;

/// The most spans that one step of a program gives.
int64_t count_spans(const program::Program& program);

/// Keeps spans in memory that is reserved at the start; what does not fit is counted and dropped.
///
/// Memory: 48 bytes a span, in the constructor; recording allocates nothing. Order: `span` may be called from several
/// threads; everything else while none records.
class TraceRecorder : public TraceSink {
 public:
  explicit TraceRecorder(int64_t capacity) : spans_(static_cast<size_t>(capacity)) {}

  /// Spans from now on belong to this step.
  void set_step(int64_t step) { step_ = step; }
  void span(int segment, int index, int64_t iteration, int lane, int64_t start_ns, int64_t end_ns) override {
    const size_t place = count_.fetch_add(1, std::memory_order_relaxed);
    if (place < spans_.size()) spans_[place] = {step_, segment, index, iteration, lane, start_ns, end_ns};
  }
  /// Forgets all spans; keeps the memory.
  void clear() { count_ = 0; }

  std::span<const TraceSpan> spans() const { return std::span(spans_).first(std::min(count_.load(), spans_.size())); }
  int64_t dropped() const { return static_cast<int64_t>(count_.load() - spans().size()); }
  int64_t capacity() const { return static_cast<int64_t>(spans_.size()); }
  /// Spans that it can still take.
  int64_t room() const { return capacity() - static_cast<int64_t>(spans().size()); }

 private:
  std::vector<TraceSpan> spans_;
  std::atomic<size_t> count_{0};
  int64_t step_ = 0;
};

}  // namespace plimsoll::report
