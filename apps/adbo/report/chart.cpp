#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "report/html.h"

namespace adbo::app {
namespace {

// Pixels of the drawing's own coordinates.
constexpr double kWidth = 420, kHeight = 270, kLeft = 58, kRight = 12, kTop = 30, kBottom = 44;
constexpr std::size_t kPoints = 160;
constexpr double kLargest = 1e300;   ///< beyond which the range of an axis would not be a number
constexpr double kTailShare = 0.02;  ///< of the points that may be cut off at either end

struct Colour {
  std::string_view light, dark;
};
// Okabe and Ito's colours, darkened or lightened to stand out on white and on near-black.
constexpr std::array<Colour, 8> kColours{{{"#0060a8", "#5ab4f0"},
                                          {"#b84a00", "#f0954a"},
                                          {"#00755a", "#3fc9a0"},
                                          {"#9c3d78", "#e08cc0"},
                                          {"#7a6400", "#e6cf3c"},
                                          {"#444444", "#cccccc"},
                                          {"#5b3fb0", "#b09cf5"},
                                          {"#a01818", "#ff8a80"}}};
constexpr std::array<std::string_view, kColours.size()> kDashes{"none", "7 3",  "2 3",     "9 3 2 3",
                                                                "4 2",  "12 4", "2 2 6 2", "1 2"};

const Colour& colour_of(std::size_t kind) { return kColours[kind % kColours.size()]; }

/// Every further round of the colours moves the dashes on by three, so that a colour has other dashes each
/// time.
std::string_view dashes_of(std::size_t kind) {
  constexpr std::size_t kStep = 3;
  return kDashes[(kind + kind / kColours.size() * kStep) % kDashes.size()];
}

double value_at(const Curve& curve, double x) {
  const auto next = std::lower_bound(curve.begin(), curve.end(), x,
                                     [](const auto& point, double at) { return point.first < at; });
  if (next == curve.begin()) return curve.front().second;
  if (next == curve.end()) return curve.back().second;
  const auto& [x0, y0] = *std::prev(next);
  const auto& [x1, y1] = *next;
  return x1 > x0 ? std::lerp(y0, y1, (x - x0) / (x1 - x0)) : y1;
}

/// 1, 2 or 5 times a power of ten that divides the range into about `parts`.
double tick_step(double range, double parts) {
  const double raw = range / parts;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

class Axis {
 public:
  Axis(double lowest, double highest, bool logarithmic)
      : logarithmic_(logarithmic), lowest_(mapped(lowest)), highest_(mapped(highest)) {
    // A range of a few units in the last place is none: its ticks could not be told apart, or counted.
    constexpr double kLeastRange = 1e-9;
    const double largest = std::max(std::abs(lowest_), std::abs(highest_));
    if (highest_ - lowest_ > std::max(kLeastRange * largest, 1 / kLargest)) return;
    const double margin = std::max(std::abs(lowest_) * 0.01, 1e-9);
    lowest_ -= margin;
    highest_ += margin;
  }

  /// In [0, 1] within the range.
  [[nodiscard]] double place(double value) const { return (mapped(value) - lowest_) / (highest_ - lowest_); }
  [[nodiscard]] bool logarithmic() const { return logarithmic_; }

  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> ticks;
    if (logarithmic_) {
      const double every = std::max(1.0, std::ceil((highest_ - lowest_) / 5));
      for (double power = std::ceil(lowest_); power <= highest_; power += every) {
        ticks.push_back(std::pow(10.0, power));
      }
      return ticks;
    }
    const double step = tick_step(highest_ - lowest_, 4.5);
    for (double k = std::ceil(lowest_ / step - 1e-9); k * step <= highest_ + 1e-9 * step; k += 1) {
      ticks.push_back(k * step);
    }
    return ticks;
  }

 private:
  [[nodiscard]] double mapped(double value) const { return logarithmic_ ? std::log10(value) : value; }

  bool logarithmic_;
  double lowest_, highest_;
};

double x_of(const Axis& axis, double value) { return kLeft + axis.place(value) * (kWidth - kLeft - kRight); }
double y_of(const Axis& axis, double value) {
  // Far outside there is nothing to see, and drawing programs have limits.
  return kTop + (1 - std::clamp(axis.place(value), -5.0, 6.0)) * (kHeight - kTop - kBottom);
}

Axis x_axis(const Chart& chart) {
  double first = std::numeric_limits<double>::infinity(), shortest = first, longest = 0;
  double smallest = first;
  for (const ChartSeries& series : chart.series) {
    for (const Curve& curve : series.curves) {
      if (curve.empty()) continue;
      first = std::min(first, curve.front().first);
      longest = std::max(longest, curve.back().first);
      if (curve.back().first > 0) shortest = std::min(shortest, curve.back().first);
      const auto positive =
          std::find_if(curve.begin(), curve.end(), [](const auto& point) { return point.first > 0; });
      if (positive != curve.end()) smallest = std::min(smallest, positive->first);
    }
  }
  const bool logarithmic = std::isfinite(shortest) && longest > kLogRatio * shortest;
  // Of a long first stretch one decade before the shortest series is enough.
  return {logarithmic ? std::max(smallest, shortest / 100) : first, longest, logarithmic};
}

Axis y_axis(const Chart& chart) {
  std::vector<double> values;
  for (const ChartSeries& series : chart.series) {
    for (const Curve& curve : series.curves) {
      for (const auto& point : curve) values.push_back(std::clamp(point.second, -kLargest, kLargest));
    }
  }
  std::sort(values.begin(), values.end());
  const auto cut = static_cast<std::size_t>(kTailShare * static_cast<double>(values.size()));
  const double lowest = values[cut], highest = values[values.size() - 1 - cut];
  const double range = highest - lowest;
  // Ends that are not far out are shown after all.
  const double bottom = values.front() >= lowest - range ? values.front() : lowest;
  const double top = values.back() <= highest + range ? values.back() : highest;
  const double margin = 0.04 * (top - bottom);
  return {bottom - margin, top + margin, false};
}

std::string path_of(const Curve& curve, const Axis& x, const Axis& y) {
  std::string path;
  for (const auto& [at, value] : curve) {
    if (x.logarithmic() && at <= 0) continue;
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : " ", x_of(x, at), y_of(y, value));
  }
  return path;
}

/// The mean of what is drawn: where the axis is logarithmic, lines between points are straight on that axis.
Curve drawn_mean(const std::vector<Curve>& curves, const Axis& x) {
  if (!x.logarithmic()) return mean_curve(curves);
  std::vector<Curve> mapped;
  for (const Curve& curve : curves) {
    Curve& kept = mapped.emplace_back();
    for (const auto& [at, value] : curve) {
      if (at > 0) kept.emplace_back(std::log10(at), value);
    }
  }
  Curve mean = mean_curve(mapped);
  for (auto& point : mean) point.first = std::pow(10.0, point.first);
  return mean;
}

std::string tick_text(double value) {
  if (std::abs(value) < 1e-12) return "0";
  if (std::abs(value) >= 1e5 || std::abs(value) < 1e-3) return fmt::format("{:.0e}", value);
  return fmt::format("{:.4g}", value);
}

std::string axes_svg(const Chart& chart, const Axis& x, const Axis& y) {
  const double right = kWidth - kRight, bottom = kHeight - kBottom;
  std::string svg;
  for (const double tick : y.ticks()) {
    const double at = y_of(y, tick);
    svg += fmt::format("<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>", kLeft,
                       right, at);
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLeft - 6, at + 4,
                       tick_text(tick));
  }
  for (const double tick : x.ticks()) {
    const double at = x_of(x, tick);
    svg += fmt::format("<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", at,
                       bottom, bottom + 4);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", at, bottom + 17,
                       tick_text(tick));
  }
  svg += fmt::format("<path class=\"axis\" d=\"M{0},{1} V{2} H{3}\"/>", kLeft, kTop, bottom, right);
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}{}</text>", (kLeft + right) / 2,
                     kHeight - 8, html_escaped(chart.x_title), x.logarithmic() ? " (logarithmic)" : "");
  svg += fmt::format("<text class=\"heading\" x=\"{}\" y=\"18\">{}</text>", kLeft, html_escaped(chart.title));
  return svg;
}

std::string series_svg(const ChartSeries& series, std::size_t kind, const Axis& x, const Axis& y) {
  std::string svg;
  const bool several = series.curves.size() > 1;
  for (const Curve& curve : series.curves) {
    const std::string path = path_of(thinned(curve, kPoints), x, y);
    if (path.empty()) continue;
    svg += fmt::format("<path class=\"k{}{}\" d=\"{}\"/>", kind, several ? " one" : "", path);
  }
  if (several) {
    const std::string path = path_of(drawn_mean(series.curves, x), x, y);
    if (!path.empty()) svg += fmt::format("<path class=\"k{}\" d=\"{}\"/>", kind, path);
  }
  return svg;
}

std::string description(const Chart& chart) {
  std::string text = fmt::format("{} against {}. ", chart.y_title, chart.x_title);
  for (const ChartSeries& series : chart.series) {
    const Curve mean = mean_curve(series.curves);
    if (mean.empty()) continue;
    text += fmt::format("{}: from {:.4g} to {:.4g} at {:.4g}. ", series.name, mean.front().second,
                        mean.back().second, mean.back().first);
  }
  return text;
}

bool has_points(const Chart& chart) {
  for (const ChartSeries& series : chart.series) {
    for (const Curve& curve : series.curves) {
      if (curve.size() > 1 && curve.front().first < curve.back().first) return true;
    }
  }
  return false;
}

}  // namespace

Curve mean_curve(const std::vector<Curve>& curves) {
  double first = -std::numeric_limits<double>::infinity(), last = std::numeric_limits<double>::infinity();
  std::size_t count = 0;
  for (const Curve& curve : curves) {
    if (curve.empty()) continue;
    ++count;
    first = std::max(first, curve.front().first);
    last = std::min(last, curve.back().first);
  }
  Curve mean;
  if (count == 0 || last < first) return mean;
  for (std::size_t k = 0; k <= kPoints; ++k) {
    const double x = first + (last - first) * static_cast<double>(k) / static_cast<double>(kPoints);
    double sum = 0;
    for (const Curve& curve : curves) {
      if (!curve.empty()) sum += value_at(curve, x);
    }
    mean.emplace_back(x, sum / static_cast<double>(count));
  }
  return mean;
}

Curve thinned(const Curve& curve, std::size_t points) {
  if (curve.size() <= points) return curve;
  Curve kept;
  for (std::size_t k = 0; k < points; ++k) kept.push_back(curve[k * (curve.size() - 1) / (points - 1)]);
  return kept;
}

std::string chart_svg(const Chart& chart, std::size_t number) {
  if (!has_points(chart)) return "";
  const Axis x = x_axis(chart), y = y_axis(chart);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "aria-labelledby=\"t{2} d{2}\"><title id=\"t{2}\">{3} against {4}</title><desc id=\"d{2}\">{5}</desc>",
      kWidth, kHeight, number, html_escaped(chart.title), html_escaped(chart.x_title),
      html_escaped(description(chart)));
  svg += fmt::format("<clipPath id=\"c{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
                     number, kLeft, kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom);
  svg += axes_svg(chart, x, y);
  svg += fmt::format("<g clip-path=\"url(#c{})\">", number);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    svg += series_svg(chart.series[s], s % kLineKinds, x, y);
  }
  return svg + "</g></svg>\n";
}

std::string legend_html(const std::vector<std::string>& names) {
  std::string html = "<ul class=\"legend\">";
  for (std::size_t s = 0; s < names.size(); ++s) {
    html += fmt::format(
        "<li><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 40 10\" width=\"40\" height=\"10\" "
        "aria-hidden=\"true\"><path class=\"k{}\" d=\"M1,5 H39\"/></svg>{}</li>",
        s % kLineKinds, html_escaped(names[s]));
  }
  return html + "</ul>\n";
}

std::string chart_style() {
  std::string light, dark, lines;
  for (std::size_t k = 0; k < kLineKinds; ++k) {
    light += fmt::format("--k{}:{};", k, colour_of(k).light);
    dark += fmt::format("--k{}:{};", k, colour_of(k).dark);
    lines += fmt::format(".k{0}{{stroke:var(--k{0});stroke-dasharray:{1}}}", k, dashes_of(k));
  }
  return fmt::format(
      ":root{{{}}}@media(prefers-color-scheme:dark){{:root{{{}}}}}"
      "svg path{{fill:none;stroke-width:2;stroke-linejoin:round}}svg path.one{{stroke-width:1;opacity:.4}}{}"
      ".chart{{width:100%;height:auto;font:12px system-ui,sans-serif}}.chart text{{fill:var(--text)}}"
      ".chart .heading{{font-weight:600;font-size:13px}}"
      ".chart .grid{{stroke:var(--rule);stroke-width:1}}"
      ".chart .axis{{stroke:var(--soft);stroke-width:1}}",
      light, dark, lines);
}

}  // namespace adbo::app
