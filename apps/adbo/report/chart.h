#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/trace_file.h"

namespace adbo::app {

/// One method: its repeats, drawn thin, and their mean, drawn bold.
struct ChartSeries {
  std::string name;
  std::vector<Curve> curves;
};

struct Chart {
  std::string title, x_title, y_title;
  std::vector<ChartSeries> series;
};

/// How many kinds of line there are. The first eight differ in their dashes too, so that none needs colour to
/// be told apart; of all, no two have both colour and dashes in common. Series beyond that begin again.
constexpr std::size_t kLineKinds = 24;

/// An inline SVG with a title and a description; its colours come from the classes of chart_style(). The x
/// axis is logarithmic where one series ends more than kLogRatio times later than another. A value far beyond
/// those that most points have (a run that diverges) is cut off at the frame. Empty where there is nothing
/// to draw, or no stretch of x to draw it along.
[[nodiscard]] std::string chart_svg(const Chart& chart, std::size_t number);
constexpr double kLogRatio = 8;

/// A short line as in the charts, and the name beside it, for every series.
[[nodiscard]] std::string legend_html(const std::vector<std::string>& names);
/// The part of the style sheet that the two above need.
[[nodiscard]] std::string chart_style();

/// The mean of the curves on a common grid, linearly between their points, as far as all of them go.
[[nodiscard]] Curve mean_curve(const std::vector<Curve>& curves);
/// At most `points` of the curve's points, first and last included.
[[nodiscard]] Curve thinned(const Curve& curve, std::size_t points);

}  // namespace adbo::app
