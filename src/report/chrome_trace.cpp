#include "report/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <tuple>

#include "report/lane_name.h"
#include "report/memory_timeline.h"

namespace plimsoll::report {

int64_t count_spans(const program::Program& program) {
  int64_t count = 0;
  for (const program::Segment& segment : program.segments)
    count += segment.trips * static_cast<int64_t>(segment.instructions.size());
  return count;
}

namespace {

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class TraceWriter {
 public:
  TraceWriter(std::ostream& out, const program::Program& program, const Roofline* roofline)
      : out_(out), program_(program), roofline_(roofline), timeline_(program) {}

  void write(std::span<const TraceSpan> recorded) {
    std::vector<TraceSpan> spans(recorded.begin(), recorded.end());
    std::ranges::sort(spans, {}, [](const TraceSpan& s) { return std::tuple(s.start_ns, s.lane, s.step, s.index); });
    origin_ns_ = spans.empty() ? 0 : spans.front().start_ns;
    out_ << R"({"displayTimeUnit":"ms","traceEvents":[)";
    write_names(spans);
    for (const TraceSpan& span : spans) {
      write_span(span);
      write_counters(span);
    }
    out_ << "\n]}\n";
  }

 private:
  void write_event(const std::string& event) {
    out_ << (is_first_ ? "\n" : ",\n") << event;
    is_first_ = false;
  }

  void write_names(const std::vector<TraceSpan>& spans) {
    write_event(fmt::format(R"({{"ph":"M","pid":1,"name":"process_name","args":{{"name":{}}}}})",
                            json_text("plimsoll " + program_.name)));
    for (int lane = 0; lane < program::kLaneCount; ++lane) {
      if (std::ranges::none_of(spans, [&](const TraceSpan& s) { return s.lane == lane; })) continue;
      write_event(fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":"{}"}}}})", lane,
                              lane_name(program_, static_cast<program::Lane>(lane))));
    }
  }

  /// Microseconds since the first span.
  double time_us(int64_t ns) const { return static_cast<double>(ns - origin_ns_) * 1e-3; }

  void write_span(const TraceSpan& span) {
    const auto& instruction = instruction_of(span);
    const bool is_kernel = instruction.kind == program::Kind::kCompute && instruction.kernel >= 0;
    const std::string op = is_kernel ? program_.kernels[static_cast<size_t>(instruction.kernel)].op
                                     : std::string(to_string(instruction.kind));
    const std::string reason =
        instruction.reason.empty() ? "" : fmt::format(R"(,"reason":{})", json_text(instruction.reason));
    write_event(fmt::format(
        R"({{"ph":"X","pid":1,"tid":{},"ts":{:.3f},"dur":{:.3f},"name":{},"cat":{},"args":{{"segment":{},"index":{},)"
        R"("step":{},"iteration":{}{}{}}}}})",
        span.lane, time_us(span.start_ns), static_cast<double>(span.end_ns - span.start_ns) * 1e-3,
        json_text(instruction.label.empty() ? op : instruction.label), json_text(op),
        json_text(program_.segments[static_cast<size_t>(span.segment)].name), span.index, span.step, span.iteration,
        reason, is_kernel ? work_of(instruction.kernel, span) : ""));
  }

  /// What the call does and how near it came to the least time, as further arguments of its event.
  std::string work_of(int kernel, const TraceSpan& span) const {
    if (roofline_ == nullptr) return "";
    const CallWork& call = roofline_->calls[static_cast<size_t>(kernel)];
    const double bound_us = roofline_->bound_s(call) * 1e6;
    const double us = static_cast<double>(span.end_ns - span.start_ns) * 1e-3;
    return fmt::format(R"(,"flops":{:.0f},"bytes":{:.0f},"bound_us":{:.3f},"share_of_bound":{:.3f})", call.flops,
                       call.bytes, bound_us, us > 0 ? bound_us / us : 0);
  }

  /// What is alive while the span runs, where that differs from what was written last.
  void write_counters(const TraceSpan& span) {
    for (size_t s = 0; s < kSpaceCount; ++s) {
      const auto space = static_cast<Space>(s);
      if (!timeline_.uses(space)) continue;
      const CategoryBytes& alive = timeline_.at(space, span.segment, span.index);
      if (last_[s] == alive) continue;
      last_[s] = alive;
      std::string series;
      for (size_t c = 0; c < kCategoryCount; ++c)
        series += fmt::format(R"({}"{}":{})", c == 0 ? "" : ",", to_string(static_cast<Category>(c)), alive[c]);
      write_event(fmt::format(R"({{"ph":"C","pid":1,"ts":{:.3f},"name":"{} memory","args":{{{}}}}})",
                              time_us(span.start_ns), to_string(space), series));
    }
  }

  const program::Instruction& instruction_of(const TraceSpan& span) const {
    return program_.segments[static_cast<size_t>(span.segment)].instructions[static_cast<size_t>(span.index)];
  }

  std::ostream& out_;
  const program::Program& program_;
  const Roofline* roofline_;
  MemoryTimeline timeline_;
  std::array<std::optional<CategoryBytes>, kSpaceCount> last_{};
  int64_t origin_ns_ = 0;
  bool is_first_ = true;
};

}  // namespace

void write_chrome_trace(std::ostream& out, const program::Program& program, std::span<const TraceSpan> spans,
                        const Roofline* roofline) {
  TraceWriter(out, program, roofline).write(spans);
}

}  // namespace plimsoll::report
