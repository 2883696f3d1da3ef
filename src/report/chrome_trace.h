#pragma once

#include <iosfwd>
#include <span>

#include "report/roofline.h"
#include "report/trace_recorder.h"

namespace plimsoll::report {

/// Writes what was recorded of a program in the Trace Event Format, which Perfetto and chrome://tracing open.
///
/// Each lane is a thread with its name, each span a complete event with op, step and iteration; one counter a space has
/// the bytes alive by category, from the program's lifetimes. Where `roofline` is given, a kernel's event also has what
/// it computes and moves, the least time for that in microseconds, and how near it came. Times start at the first span.
/// Order: the spans' order does not matter; the same spans give the same bytes. Memory: a copy of the spans, and the
/// program's lifetimes.
void write_chrome_trace(std::ostream& out, const program::Program& program, std::span<const TraceSpan> spans,
                        const Roofline* roofline = nullptr);

}  // namespace plimsoll::report
