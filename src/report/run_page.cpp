#include "report/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/chart.h"
#include "report/quantities.h"

namespace plimsoll::report {
namespace {

/// By category, in its order.
constexpr std::array<const char*, kCategoryCount> kColours{"#4363d8", "#e6194b", "#911eb4", "#3cb44b", "#f58231",
                                                           "#46b0b0", "#9a6324", "#808000", "#a9a9a9"};

constexpr std::string_view kStyle =
    "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    "svg{max-width:100%;height:auto}svg text{font-size:11px;fill:#555}.axis{fill:none;stroke:#999}"
    "polyline{fill:none;stroke-width:1.5}pre{background:#f5f5f5;padding:1em;overflow:auto}.legend{color:#555}";

std::string size_label(double size) { return to_string(Bytes{static_cast<int64_t>(size)}); }

/// The spans of the last step, by start.
std::vector<TraceSpan> last_step(std::span<const TraceSpan> spans) {
  std::vector<TraceSpan> of_step;
  int64_t step = 0;
  for (const TraceSpan& span : spans) step = std::max(step, span.step);
  std::ranges::copy_if(spans, std::back_inserter(of_step), [&](const TraceSpan& s) { return s.step == step; });
  std::ranges::stable_sort(of_step, {}, &TraceSpan::start_ns);
  return of_step;
}

double seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string memory_chart(const program::Program& program, const std::vector<TraceSpan>& spans, Space space) {
  const MemoryTimeline timeline(program);
  if (!timeline.uses(space)) return "";
  std::vector<double> xs;
  std::vector<Layer> layers;
  for (size_t c = 0; c < kCategoryCount; ++c)
    layers.push_back({std::string(to_string(static_cast<Category>(c))), kColours[c], {}});
  CategoryBytes last{};
  for (const TraceSpan& span : spans) {
    const CategoryBytes& alive = timeline.at(space, span.segment, span.index);
    if (!xs.empty() && alive == last) continue;
    last = alive;
    xs.push_back(seconds(span.start_ns - spans.front().start_ns));
    for (size_t c = 0; c < kCategoryCount; ++c) layers[c].heights.push_back(static_cast<double>(alive[c]));
  }
  xs.push_back(seconds(spans.back().end_ns - spans.front().start_ns));
  std::erase_if(layers, [](const Layer& l) { return std::ranges::all_of(l.heights, [](double h) { return h == 0; }); });
  return fmt::format("<h2>Memory over a step: {}</h2>\n", to_string(space)) + stacked_chart(xs, layers, size_label);
}

std::string lane_chart(const program::Program& program, const std::vector<TraceSpan>& spans) {
  std::vector<std::string> rows;
  std::array<size_t, program::kLaneCount> row_of{};
  for (int lane = 0; lane < program::kLaneCount; ++lane) {
    row_of[static_cast<size_t>(lane)] = rows.size();
    if (std::ranges::any_of(spans, [&](const TraceSpan& s) { return s.lane == lane; }))
      rows.emplace_back(to_string(static_cast<program::Lane>(lane)));
  }
  std::vector<Box> boxes;
  int64_t end_ns = 0;
  for (const TraceSpan& span : spans) {
    const auto& segment = program.segments[static_cast<size_t>(span.segment)];
    const auto& instruction = segment.instructions[static_cast<size_t>(span.index)];
    const std::string tip = fmt::format("{} [{}, iteration {}]: {}", instruction.label, segment.name, span.iteration,
                                        to_duration(seconds(span.end_ns - span.start_ns)));
    boxes.push_back({row_of[static_cast<size_t>(span.lane)], seconds(span.start_ns), seconds(span.end_ns),
                     kColours[static_cast<size_t>(span.segment) % kColours.size()], tip});
    end_ns = std::max(end_ns, span.end_ns);
  }
  return "<h2>Lanes over a step</h2>\n" + timeline_chart(rows, boxes, seconds(spans.front().start_ns), seconds(end_ns));
}

std::string loss_chart(const RunPage& page) {
  std::vector<Curve> curves{{"training loss", kColours[0], page.losses}};
  if (!page.validation.empty()) curves.push_back({"validation loss", kColours[1], page.validation});
  return "<h2>Loss</h2>\n" + line_chart(curves, "step");
}

}  // namespace

std::string to_html(const RunPage& page) {
  const std::string title = to_html_text(page.title);
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>{1}</style></head>\n"
      "<body><h1>{0}</h1>\n",
      title, kStyle);
  for (const std::string& fact : page.facts) html += fmt::format("<p>{}</p>\n", to_html_text(fact));
  html += loss_chart(page);
  const std::vector<TraceSpan> spans = last_step(page.spans);
  if (page.program != nullptr && !spans.empty()) {
    for (int space = 0; space < kSpaceCount; ++space)
      html += memory_chart(*page.program, spans, static_cast<Space>(space));
    html += lane_chart(*page.program, spans);
  }
  if (page.plan) html += fmt::format("<h2>Plan</h2>\n<pre>{}</pre>\n", to_html_text(to_text(*page.plan)));
  return html + "</body></html>\n";
}

}  // namespace plimsoll::report
