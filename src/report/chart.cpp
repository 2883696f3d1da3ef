#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/quantities.h"

namespace plimsoll::report {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 220;
constexpr double kLeft = 90;  ///< room for axis labels
constexpr double kBottom = 20;
constexpr double kRowHeight = 24;

/// Maps a range of values to a range of pixels.
struct Scale {
  double least = 0;
  double most = 1;
  double from_px = 0;
  double to_px = 1;
  double operator()(double value) const {
    const double width = most > least ? most - least : 1;
    return from_px + (value - least) / width * (to_px - from_px);
  }
};

Scale x_scale(double least, double most) { return {least, most, kLeft, kWidth - 5}; }
Scale y_scale(double least, double most) { return {least, most, kHeight - kBottom, 10}; }

std::string open_svg(double height) {
  return fmt::format("<svg viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\">\n", kWidth, height);
}

std::string label(double x, double y, const char* anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     to_html_text(text));
}

std::string frame(const Scale& x, const Scale& y, const std::string& low, const std::string& high) {
  return fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", x.from_px, y.to_px, y.from_px,
                     x.to_px) +
         label(kLeft - 6, y.to_px + 4, "end", high) + label(kLeft - 6, y.from_px, "end", low);
}

template <class Series>
std::string legend(std::span<const Series> series) {
  std::string text = "<p class=\"legend\">";
  for (const Series& one : series)
    text += fmt::format("<span style=\"color:{}\">■</span> {} ", one.colour, to_html_text(one.name));
  return text + "</p>\n";
}

std::string polyline(const Curve& curve, const Scale& x, const Scale& y) {
  std::string points, dot;
  for (const auto& [px, py] : curve.points) {
    if (!std::isfinite(py)) continue;
    // A line of one point would not be seen.
    dot = points.empty() ? fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" style=\"fill:{}\"/>\n", x(px),
                                       y(py), curve.colour)
                         : "";
    points += fmt::format("{:.1f},{:.1f} ", x(px), y(py));
  }
  if (!dot.empty()) return dot;
  return fmt::format("<polyline style=\"stroke:{}\" points=\"{}\"/>\n", curve.colour, points);
}

/// Steps along the top of a layer, and back along its bottom.
std::string area(std::span<const double> xs, const std::vector<double>& low, const std::vector<double>& high,
                 const Layer& layer, const Scale& x, const Scale& y) {
  std::string path;
  for (size_t i = 0; i < high.size(); ++i)
    path += fmt::format("{}{:.1f} {:.1f}H{:.1f}", i == 0 ? "M" : "L", x(xs[i]), y(high[i]), x(xs[i + 1]));
  for (size_t i = low.size(); i-- > 0;) path += fmt::format("L{:.1f} {:.1f}H{:.1f}", x(xs[i + 1]), y(low[i]), x(xs[i]));
  return fmt::format("<path style=\"fill:{}\" d=\"{}Z\"><title>{}</title></path>\n", layer.colour, path,
                     to_html_text(layer.name));
}

}  // namespace

std::string to_html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string line_chart(std::span<const Curve> curves, const std::string& x_name) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double least_x = kInfinity, most_x = -kInfinity, least_y = kInfinity, most_y = -kInfinity;
  for (const Curve& curve : curves) {
    for (const auto& [px, py] : curve.points) {
      if (!std::isfinite(py)) continue;
      least_x = std::min(least_x, px);
      most_x = std::max(most_x, px);
      least_y = std::min(least_y, py);
      most_y = std::max(most_y, py);
    }
  }
  if (least_x > most_x) return "<p>nothing was recorded</p>\n";
  const Scale x = x_scale(least_x, most_x), y = y_scale(least_y, most_y);
  std::string svg = open_svg(kHeight) + frame(x, y, fmt::format("{:.4g}", least_y), fmt::format("{:.4g}", most_y));
  for (const Curve& curve : curves) svg += polyline(curve, x, y);
  svg += label(kLeft, kHeight - 4, "start", fmt::format("{} {:g}", x_name, least_x));
  svg += label(kWidth - 5, kHeight - 4, "end", fmt::format("{:g}", most_x));
  return svg + "</svg>\n" + legend(curves);
}

std::string stacked_chart(std::span<const double> xs, std::span<const Layer> layers, std::string (*format)(double)) {
  if (xs.size() < 2) return "<p>nothing was recorded</p>\n";
  std::vector<double> low(xs.size() - 1, 0.0), total(xs.size() - 1, 0.0);
  for (const Layer& layer : layers)
    for (size_t i = 0; i < total.size(); ++i) total[i] += layer.heights[i];
  const double most = *std::ranges::max_element(total);
  const Scale x = x_scale(xs.front(), xs.back()), y = y_scale(0, most);
  std::string svg = open_svg(kHeight) + frame(x, y, format(0), format(most));
  for (const Layer& layer : layers) {
    std::vector<double> high = low;
    for (size_t i = 0; i < high.size(); ++i) high[i] += layer.heights[i];
    svg += area(xs, low, high, layer, x, y);
    low = std::move(high);
  }
  svg += label(kWidth - 5, kHeight - 4, "end", to_duration(xs.back() - xs.front()));
  return svg + "</svg>\n" + legend(layers);
}

std::string timeline_chart(std::span<const std::string> rows, std::span<const Box> boxes, double begin, double end) {
  const Scale x = x_scale(begin, end);
  constexpr double kLeastWidth = 0.2;
  std::string svg = open_svg(kRowHeight * static_cast<double>(rows.size()) + kBottom);
  for (size_t i = 0; i < rows.size(); ++i)
    svg += label(kLeft - 6, kRowHeight * (static_cast<double>(i) + 0.7), "end", rows[i]);
  for (const Box& box : boxes) {
    const double width = x(box.end) - x(box.begin);
    if (width < kLeastWidth) continue;
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "style=\"fill:{}\"><title>{}</title></rect>\n",
        x(box.begin), kRowHeight * static_cast<double>(box.row) + 3, width, kRowHeight - 6, box.colour,
        to_html_text(box.tip));
  }
  svg += label(kWidth - 5, kRowHeight * static_cast<double>(rows.size()) + 14, "end", to_duration(end - begin));
  return svg + "</svg>\n";
}

}  // namespace plimsoll::report
