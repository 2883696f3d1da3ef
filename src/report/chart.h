#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plimsoll::report {

/// Text with what HTML and SVG take for markup escaped.
std::string to_html_text(std::string_view text);

/// One line of a chart.
struct Curve {
  std::string name;
  std::string colour;
  std::vector<std::pair<double, double>> points;  ///< x ascending; points that are not finite are left out
};

/// One layer of a stacked chart: its height from each x to the next.
struct Layer {
  std::string name;
  std::string colour;
  std::vector<double> heights;
};

/// A coloured box in a row of a timeline.
struct Box {
  size_t row = 0;
  double begin = 0;
  double end = 0;
  std::string colour;
  std::string tip;  ///< shown when pointed at
};

/// Pictures as <svg> elements that need nothing else. Same data, same bytes.
///
/// Lines over a common x axis, from the least to the largest value.
std::string line_chart(std::span<const Curve> curves, const std::string& x_name);
/// Layers on one another, from 0 up; `xs` has one element more than each layer. `format` makes the axis labels.
std::string stacked_chart(std::span<const double> xs, std::span<const Layer> layers, std::string (*format)(double));
/// One row a name; boxes narrower than a fifth of a pixel are left out.
std::string timeline_chart(std::span<const std::string> rows, std::span<const Box> boxes, double begin, double end);

}  // namespace plimsoll::report
