#include "report/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/printable.h"
#include "report/chart.h"
#include "report/lane_name.h"
#include "report/quantities.h"

namespace plimsoll::report {
namespace {

/// By category, in its order.
constexpr std::array<const char*, kCategoryCount> kColours{"#4363d8", "#e6194b", "#911eb4", "#3cb44b", "#f58231",
                                                           "#46b0b0", "#9a6324", "#808000", "#a9a9a9"};

constexpr std::string_view kStyle =
    "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    "svg{max-width:100%;height:auto}svg text{font-size:11px;fill:#555}.axis{fill:none;stroke:#999}"
    "polyline{fill:none;stroke-width:1.5}pre{background:#f5f5f5;padding:1em;overflow:auto;white-space:pre-wrap}td{"
    "padding-right:2em}.legend{color:#555}";

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
      rows.emplace_back(lane_name(program, static_cast<program::Lane>(lane)));
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

std::string table_row(const std::string& name, const std::string& value) {
  return fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", to_html_text(printable(name)), to_html_text(value));
}

std::string exact(int64_t size) { return fmt::format("{} ({} bytes)", to_string(Bytes{size}), size); }

std::string memory_rows(const RunMetrics::End& end) {
  return table_row("training time", to_duration(end.train_seconds)) +
         table_row("peak resident memory of the process", exact(end.peak_bytes)) +
         table_row("planned for the process", exact(end.planned_bytes)) +
         table_row("peak of planned", to_share(end.peak_bytes, end.planned_bytes));
}

/// The figures of the whole run that it has.
std::string figures(const RunMetrics& metrics) {
  std::string rows;
  const auto add_last = [&](const char* name, const Series& series, const char* unit) {
    if (!series.empty()) rows += table_row(name, fmt::format("{:.4f} {}", series.points().back().second, unit));
  };
  add_last("validation loss", metrics.validation_loss, "nats a token");
  add_last("validation text", metrics.validation_bits_per_byte, "bits per byte");
  if (metrics.baseline)
    rows += table_row("the same by " + metrics.baseline->model,
                      fmt::format("{:.4f} bits per byte", metrics.baseline->bits_per_byte));
  if (metrics.skipped > 0) rows += table_row("updates skipped", std::to_string(metrics.skipped));
  if (metrics.end) rows += memory_rows(*metrics.end);
  return rows.empty() ? "" : "<table>\n" + rows + "</table>\n";
}

/// `value` from the first to the last update that the run recorded.
std::vector<std::pair<double, double>> level(const RunMetrics& metrics, double value) {
  double first = std::numeric_limits<double>::infinity(), last = -first;
  for (const Series* series : {&metrics.loss, &metrics.validation_loss, &metrics.memory_bytes}) {
    if (series->empty()) continue;
    first = std::min(first, series->points().front().first);
    last = std::max(last, series->points().back().first);
  }
  if (first > last) return {};
  return {{first, value}, {last, value}};
}

std::string chart(const char* title, const std::vector<Curve>& curves) {
  return fmt::format("<h2>{}</h2>\n", title) + line_chart(curves, "step");
}

std::string process_memory_chart(const RunMetrics& metrics) {
  constexpr double kMebibyte = 1 << 20;
  Curve curve{"in use, by the ledger", kColours[0], metrics.memory_bytes.points()};
  for (auto& [step, size] : curve.points) size /= kMebibyte;
  std::vector<Curve> curves{curve};
  if (metrics.end) {
    curves.push_back(
        {"peak resident", kColours[1], level(metrics, static_cast<double>(metrics.end->peak_bytes) / kMebibyte)});
    curves.push_back(
        {"planned", kColours[3], level(metrics, static_cast<double>(metrics.end->planned_bytes) / kMebibyte)});
  }
  return chart("Memory of the process, MiB", curves);
}

std::string metric_charts(const RunMetrics& metrics) {
  std::vector<Curve> losses{{"training loss", kColours[0], metrics.loss.points()}};
  if (!metrics.validation_loss.empty())
    losses.push_back({"validation loss", kColours[1], metrics.validation_loss.points()});
  std::string html = chart("Loss", losses);
  if (!metrics.validation_bits_per_byte.empty()) {
    std::vector<Curve> bits{{"bits per byte", kColours[1], metrics.validation_bits_per_byte.points()}};
    if (metrics.baseline)
      bits.push_back(
          {printable(metrics.baseline->model), kColours[8], level(metrics, metrics.baseline->bits_per_byte)});
    html += chart("Validation text, bits per byte", bits);
  }
  if (!metrics.memory_bytes.empty()) html += process_memory_chart(metrics);
  for (const auto& [title, series] :
       {std::pair("Learning rate", &metrics.learning_rate), std::pair("Gradient norm", &metrics.gradient_norm),
        std::pair("Tokens a second", &metrics.tokens_per_s)})
    if (!series->empty()) html += chart(title, {{title, kColours[0], series->points()}});
  return html;
}

std::string sample_text(const RunMetrics::Sample& sample) {
  std::string html =
      fmt::format("<h2>Sample</h2>\n<pre><b>{}</b>{}</pre>\n", to_html_text(printable_lines(sample.prompt)),
                  to_html_text(printable_lines(sample.text)));
  if (sample.known_word_share)
    html += fmt::format("<p>{:.1f} % of its words occur in the training text</p>\n", 100 * *sample.known_word_share);
  return html;
}

}  // namespace

std::string to_html(const RunPage& page) {
  const std::string title = to_html_text(printable(page.title));
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>{1}</style></head>\n"
      "<body><h1>{0}</h1>\n",
      title, kStyle);
  html += figures(page.metrics) + metric_charts(page.metrics);
  if (page.metrics.sample) html += sample_text(*page.metrics.sample);
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
