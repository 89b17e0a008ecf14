// The parts of a report, one by one.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "adbo/method_table.h"
#include "output/comparison_table.h"
#include "report/chart.h"
#include "report/html.h"

using adbo::app::Curve;
using adbo::app::html_escaped;

TEST_CASE("html: markup, control characters and bytes that are no UTF-8") {
  CHECK(html_escaped("<a href=\"x\">&'") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  CHECK(html_escaped("Zürich \xE2\x82\xAC \xF0\x9F\x98\x80") == "Zürich \xE2\x82\xAC \xF0\x9F\x98\x80");
  const std::string replaced = "\xEF\xBF\xBD";
  CHECK(html_escaped(std::string("a\0b\x01", 4)) == "a" + replaced + "b" + replaced);
  CHECK(html_escaped("\xFF") == replaced);
  CHECK(html_escaped("x\xC3") == "x" + replaced);                                        // cut off
  CHECK(html_escaped("\xC0\xBC") == replaced + replaced);                                // an overlong "<"
  CHECK(html_escaped("\xE0\x80\xBC") == replaced + replaced + replaced);                 // another
  CHECK(html_escaped("\xED\xA0\x80") == replaced + replaced + replaced);                 // a surrogate
  CHECK(html_escaped("\xF4\x90\x80\x80") == replaced + replaced + replaced + replaced);  // beyond U+10FFFF
}

TEST_CASE("html: words of the user's turn no other text and fill no page") {
  using adbo::app::html_word;
  CHECK(html_escaped("a\xE2\x80\xAE"
                     "b") == "a[U+202E]b");  // right-to-left override
  CHECK(html_escaped("\xE2\x81\xA6x\xE2\x81\xA9") == "[U+2066]x[U+2069]");
  CHECK(html_escaped("\xD7\xA9\xD7\x9C") == "\xD7\xA9\xD7\x9C");  // letters of such a script stay
  CHECK(html_word("<b>") == "<bdi>&lt;b&gt;</bdi>");
  CHECK(html_word(std::string(299, 'x') + "\xE2\x82\xAC" + std::string(9000, 'y')) ==
        "<bdi>" + std::string(299, 'x') + "\xE2\x80\xA6</bdi>");
}

TEST_CASE("charts: every method of a long comparison has a line of its own") {
  std::set<std::string> kinds;
  const std::string style = adbo::app::chart_style();
  for (std::size_t k = 0; k < adbo::app::kLineKinds; ++k) {
    const std::string number = std::to_string(k);
    const auto value_of = [&style](const std::string& name) {
      const std::size_t begin = style.find(name);
      REQUIRE(begin != std::string::npos);
      return style.substr(begin + name.size(), style.find_first_of(";}", begin) - begin - name.size());
    };
    kinds.insert(value_of("--k" + number + ":") + " " +
                 value_of(".k" + number + "{stroke:var(--k" + number + ");stroke-dasharray:"));
  }
  CHECK(kinds.size() == adbo::app::kLineKinds);
  CHECK(adbo::app::kLineKinds >= 2 + adbo::method_table().size());
}

TEST_CASE("charts: values that differ by rounding, and values as far apart as numbers go") {
  using adbo::app::Chart;
  const double next = std::nextafter(1.1, 2.0);
  for (const auto& [low, high] : {std::pair(1.1, next), std::pair(-next, -1.1), std::pair(-1e308, 1e308),
                                  std::pair(0.0, 5e-324), std::pair(0.0, 1e-300)}) {
    const Chart chart{"t", "x", "y", {{"a", {{{0, low}, {1, high}, {2, low}}}}}};
    const std::string svg = adbo::app::chart_svg(chart, 0);
    CHECK(svg.size() > 500);
    CHECK(svg.size() < 10'000);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
  }
}

TEST_CASE("charts: times that are all the same are no axis") {
  using adbo::app::Chart;
  CHECK(adbo::app::chart_svg(Chart{"t", "virtual seconds", "y", {{"a", {{{0, 1}, {0, 2}, {0, 3}}}}}}, 0)
            .empty());
}

TEST_CASE("curves: the mean goes as far as all repeats, thinning keeps the ends") {
  const Curve first{{0, 0}, {2, 2}, {4, 4}}, second{{0, 2}, {3, 5}};
  const Curve mean = adbo::app::mean_curve({first, second});
  CHECK(mean.front() == std::pair(0.0, 1.0));
  CHECK(mean.back().first == 3);
  CHECK(mean.back().second == doctest::Approx(4).epsilon(1e-12));
  CHECK(adbo::app::mean_curve({}).empty());
  CHECK(adbo::app::mean_curve({{}, first}).back() == std::pair(4.0, 4.0));
  Curve many;
  for (int k = 0; k <= 1000; ++k) many.emplace_back(k, -k);
  const Curve few = adbo::app::thinned(many, 50);
  CHECK(few.size() == 50);
  CHECK(few.front() == many.front());
  CHECK(few.back() == many.back());
}

TEST_CASE("charts: nothing to draw, a logarithmic axis where ends are far apart, names escaped") {
  using adbo::app::Chart;
  CHECK(adbo::app::chart_svg(Chart{"t", "x", "y", {{"a", {{}}}, {"b", {{{0, 1}}}}}}, 0).empty());
  const Chart near{"t", "seconds", "y", {{"<a>", {{{0, 1}, {10, 2}}}}, {"b", {{{0, 1}, {20, 2}}}}}};
  const std::string svg = adbo::app::chart_svg(near, 3);
  CHECK(svg.find("logarithmic") == std::string::npos);
  CHECK(svg.find("&lt;a&gt;") != std::string::npos);
  CHECK(svg.find("<a>") == std::string::npos);
  CHECK(svg.find("aria-labelledby=\"t3 d3\"") != std::string::npos);
  const Chart far{"t", "seconds", "y", {{"a", {{{0, 1}, {1, 2}}}}, {"b", {{{0, 1}, {5, 1}, {100, 2}}}}}};
  CHECK(adbo::app::chart_svg(far, 0).find("seconds (logarithmic)") != std::string::npos);
  const Chart flat{"t", "x", "y", {{"a", {{{0, 1}, {1, 1}}}}}};
  CHECK(adbo::app::chart_svg(flat, 0).find("nan") == std::string::npos);
}

TEST_CASE("comparison table: means and deviations by hand, runs that do not count stay out") {
  adbo::app::ComparedRow row{"m", {}, nullptr};
  for (const double value : {1.0, 2.0, 6.0, std::numeric_limits<double>::quiet_NaN()}) {
    row.runs.push_back({});
    row.runs.back().status = "converged";
    row.runs.back().counts = true;
    row.runs.back().values = {{"value_function", value}};
  }
  row.runs.push_back(row.runs.front());
  row.runs.back().status = "diverged";
  row.runs.back().counts = false;
  row.runs.back().values = {{"value_function", 1e30}};
  const adbo::app::Statistic statistic = adbo::app::statistic_of(row, "value_function");
  CHECK(statistic.count == 3);
  CHECK(statistic.mean == doctest::Approx(3).epsilon(1e-14));
  CHECK(statistic.deviation == doctest::Approx(std::sqrt(7.0)).epsilon(1e-14));
  CHECK(adbo::app::statistic_of(row, "other").count == 0);
  CHECK(adbo::app::status_of(row) == "4 converged, 1 diverged");
  row.runs.resize(1);
  CHECK(std::isnan(adbo::app::statistic_of(row, "value_function").deviation));
  CHECK(adbo::app::status_of(row) == "converged");
}

TEST_CASE("comparison table: workers that were dropped stand under it") {
  adbo::app::ComparedRun run;
  run.repeat = 2;
  run.dropped = "worker 1 at iteration 7 (it is gone)";
  adbo::app::ComparisonTable table;
  table.rows.push_back({"m", {adbo::app::ComparedRun{}, run}, nullptr});
  CHECK(adbo::app::markdown_text(table).find(
            "\nWorkers that were dropped:\n\n- m, repeat 2: worker 1 at iteration 7 (it is gone)\n") !=
        std::string::npos);
}
