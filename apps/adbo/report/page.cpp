#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "output/comparison_table.h"
#include "report/chart.h"
#include "report/html.h"

namespace adbo::app {
namespace {

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark;--back:#fff;--text:#1b1b1f;--soft:#5c5c66;--rule:#dcdce2;--card:#f5f5f8;"
    "--bad:#a01818}"
    "@media(prefers-color-scheme:dark){:root{--back:#141417;--text:#ececf0;--soft:#a8a8b3;--rule:#38383f;"
    "--card:#1e1e23;--bad:#ff8a80}}"
    "*{box-sizing:border-box}body{margin:0 auto;max-width:1320px;padding:1rem;background:var(--back);"
    "color:var(--text);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}"
    "h1{font-size:1.5rem;line-height:1.2;margin:.5rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}"
    "p{margin:.4rem 0;max-width:75ch}.soft{color:var(--soft)}.bad{color:var(--bad);font-weight:600}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}"
    "th,td{padding:.3rem .7rem;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top;"
    "overflow-wrap:normal}td.number,th.number{text-align:right;white-space:nowrap}"
    "tbody th{min-width:10.5rem}tbody th.word{min-width:0}"
    ".word{max-width:14rem;overflow-wrap:anywhere}.features{min-width:16rem;overflow-wrap:anywhere}"
    "thead th{border-bottom:2px solid var(--soft)}"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,330px),1fr));gap:1rem}"
    ".legend{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;padding:0;margin:.5rem 0}"
    ".legend svg{margin-right:.4rem}"
    ".gallery{display:grid;grid-template-columns:repeat(auto-fill,minmax(96px,1fr));gap:.7rem;padding:0;"
    "list-style:none}.gallery li{background:var(--card);border-radius:6px;padding:.5rem;font-size:.8rem;"
    "line-height:1.35}.gallery img{width:100%;height:auto;image-rendering:pixelated;display:block;"
    "margin-bottom:.3rem}"
    "details{margin:.5rem 0}summary{cursor:pointer;font-weight:600}";

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string number_text(const Json& value) {
  return value.is_number_float() ? fmt::format("{:.5g}", value.get<double>()) : text_of(value);
}

std::string with_spaces(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string heading(std::string_view text) { return fmt::format("<h2>{}</h2>\n", html_escaped(text)); }

/// What a reader may look for here and not find, and why.
std::string missing_section(const std::vector<std::string>& missing) {
  if (missing.empty()) return "";
  std::string items;
  for (const std::string& sentence : missing) items += fmt::format("<li>{}</li>", html_escaped(sentence));
  return heading("Not on this page") + "<ul class=\"soft\">" + items + "</ul>\n";
}

// --- curves

struct Quantity {
  std::string_view column, title;
};
constexpr std::array kDrawn{Quantity{"test_accuracy", "Test accuracy at consensus"},
                            Quantity{"test_loss", "Test loss at consensus"},
                            Quantity{"upper_objective", "Upper objective"},
                            Quantity{"held_out_loss", "Held-out loss"},
                            Quantity{"value_function", "Value function"},
                            Quantity{"test_accuracy_retrained", "Test accuracy, retrained"}};
constexpr std::array kAgainst{Quantity{"virtual_seconds", "virtual seconds"},
                              Quantity{"wall_seconds", "wall seconds"}, Quantity{"iteration", "iterations"}};

Chart chart_of(const ReportInput& input, const Quantity& y, const Quantity& x) {
  Chart chart{std::string(y.title), std::string(x.title), std::string(y.title), {}};
  for (const ReportSeries& series : input.series) {
    ChartSeries drawn{series.name, {}};
    for (const TraceFile& trace : series.traces) drawn.curves.push_back(trace.curve(x.column, y.column));
    chart.series.push_back(std::move(drawn));  // with or without curves: its kind of line is its own
  }
  return chart;
}

/// Whether every time of every trace is the same: no stretch to draw anything along.
bool stands_still(const ReportInput& input, std::string_view time) {
  for (const ReportSeries& series : input.series) {
    for (const TraceFile& trace : series.traces) {
      const Curve curve = trace.curve(time, time);
      if (!curve.empty() && curve.front().first < curve.back().first) return false;
    }
  }
  return true;
}

std::string curves_section(const ReportInput& input) {
  std::string charts, still;
  std::size_t number = 0;
  for (const Quantity& y : kDrawn) {
    for (const Quantity& x : kAgainst) charts += chart_svg(chart_of(input, y, x), number++);
  }
  for (const Quantity& x : kAgainst) {
    if (stands_still(input, x.column))
      still += fmt::format("<p class=\"soft\">No curves against {}: all are equal.</p>\n", x.title);
  }
  const bool has_traces = std::any_of(input.series.begin(), input.series.end(),
                                      [](const ReportSeries& series) { return !series.traces.empty(); });
  if (!has_traces) return "";
  if (charts.empty()) return heading("Curves") + still;
  std::vector<std::string> names;
  bool several = false;
  for (const ReportSeries& series : input.series) {
    names.push_back(series.name);
    several = several || series.traces.size() > 1;
  }
  return heading("Curves") + legend_html(names) +
         (several ? "<p class=\"soft\">Bold: the mean of the repeats, as far as all of them go; thin: each "
                    "repeat.</p>\n"
                  : "") +
         "<div class=\"charts\">" + charts + "</div>\n" + still;
}

// --- tables

std::string statistic_text(const Json& row, const std::string& column) {
  if (!row.at("mean").contains(column)) return "";
  const std::string mean = number_text(row.at("mean").at(column));
  const Json& deviations = row.at("deviation");
  if (!deviations.contains(column)) return mean;
  return fmt::format("{} ± {:.2g}", mean, deviations.at(column).get<double>());
}

bool is_bad(const std::string& status) {
  constexpr std::array<std::string_view, 4> kBad{"diverged", "failed", "refused", "solve_failed"};
  return std::any_of(kBad.begin(), kBad.end(),
                     [&status](std::string_view word) { return status.find(word) != std::string::npos; });
}

/// One line per measure and one column per method: measures are many, methods few.
std::string comparison_table(const Json& table) {
  std::string html = "<div class=\"wide\"><table><thead><tr><th scope=\"col\">mean ± deviation</th>";
  for (const Json& row : table.at("rows")) {
    html +=
        fmt::format("<th scope=\"col\" class=\"number\">{}</th>", html_escaped(text_of(row.at("method"))));
  }
  html += "</tr></thead><tbody><tr><th scope=\"row\">status</th>";
  for (const Json& row : table.at("rows")) {
    const std::string status = text_of(row.at("status"));
    html += fmt::format("<td class=\"number{}\">{}</td>", is_bad(status) ? " bad" : "", html_escaped(status));
  }
  html += "</tr>\n";
  for (const std::string column : table.at("columns")) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", html_escaped(with_spaces(column)));
    for (const Json& row : table.at("rows")) {
      html += fmt::format("<td class=\"number\">{}</td>", html_escaped(statistic_text(row, column)));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string messages_list(const Json& table) {
  std::string items;
  for (const Json& row : table.at("rows")) {
    for (const Json& run : row.at("runs")) {
      if (run.at("counts").get<bool>()) continue;
      items += fmt::format("<li>{}, repeat {}: <span class=\"bad\">{}</span> {}</li>",
                           html_escaped(text_of(row.at("method"))), html_escaped(text_of(run.at("repeat"))),
                           html_escaped(text_of(run.at("status"))),
                           html_escaped(run.contains("message") ? text_of(run.at("message")) : ""));
    }
  }
  return items.empty() ? "" : "<p>Not in the means:</p><ul>" + items + "</ul>\n";
}

std::string remarks_list(const Json& table, const char* key, std::string_view heading) {
  std::string items;
  for (const Json& row : table.at("rows")) {
    for (const Json& run : row.at("runs")) {
      if (!run.contains(key)) continue;
      items += fmt::format("<li>{}, repeat {}: {}</li>", html_escaped(text_of(row.at("method"))),
                           html_escaped(text_of(run.at("repeat"))), html_escaped(text_of(run.at(key))));
    }
  }
  return items.empty() ? "" : fmt::format("<p>{}:</p><ul>{}</ul>\n", heading, items);
}

std::string repeats_list(const Json& table) {
  const Json& rows = table.at("rows");
  std::string items;
  std::vector<Json> seen;
  for (const Json& row : rows) {
    for (const Json& run : row.at("runs")) {
      if (std::find(seen.begin(), seen.end(), run.at("repeat")) != seen.end()) continue;
      seen.push_back(run.at("repeat"));
      items += fmt::format("<li>repeat {}: seed {}, split, corruption and start {}</li>",
                           html_escaped(text_of(run.at("repeat"))), html_escaped(text_of(run.at("seed"))),
                           html_escaped(text_of(run.at("digest"))));
    }
  }
  return items.empty() ? "" : "<ul class=\"soft\">" + items + "</ul>\n";
}

std::string searches_list(const Json& table) {
  std::string items;
  for (const Json& row : table.at("rows")) {
    if (!row.contains("search")) continue;
    items += fmt::format("<li>steps of {}: {}</li>", html_escaped(text_of(row.at("method"))),
                         html_escaped(search_text(row.at("search"))));
  }
  return items.empty() ? "" : "<ul class=\"soft\">" + items + "</ul>\n";
}

/// Names and values, side by side.
std::string facts_table(const Json& facts) {
  std::string html = "<div class=\"wide\"><table><tbody>";
  for (const auto& [name, value] : facts.items()) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", html_escaped(with_spaces(name)),
                        html_escaped(number_text(value)));
  }
  return html + "</tbody></table></div>\n";
}

std::string settings_table(const Json& config) {
  std::string html =
      "<div class=\"wide\"><table><thead><tr><th scope=\"col\">setting</th><th scope=\"col\">value</th>"
      "<th scope=\"col\">from</th><th scope=\"col\">as used</th></tr></thead><tbody>";
  for (const auto& [name, entry] : config.items()) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        html_escaped(name), html_escaped(text_of(entry.at("value"))),
                        html_escaped(entry.contains("from") ? text_of(entry.at("from")) : ""),
                        html_escaped(entry.contains("used") ? text_of(entry.at("used")) : ""));
  }
  return html + "</tbody></table></div>\n";
}

std::string folded(std::string_view title, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", html_escaped(title), content);
}

// --- suspects

bool is_base64(std::string_view text) {
  return text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") ==
         std::string_view::npos;
}

std::string suspect_words(const Json& row) {
  std::string words = fmt::format("<strong>{}</strong> → {}", html_word(text_of(row.at("given"))),
                                  html_word(text_of(row.at("predicted"))));
  if (row.contains("label_changed")) {
    words += row.at("label_changed").get<bool>() ? "<br/>wrong: yes" : "<br/>wrong: no";
  }
  return words;
}

std::string picture_item(const Json& row) {
  const std::string png = text_of(row.at("png"));
  if (!is_base64(png)) return "";
  return fmt::format(
      "<li><img alt=\"row {}, given {}, predicted {}\" src=\"data:image/png;base64,{}\"/>{}<br/><span "
      "class=\"soft\">row {}</span></li>\n",
      html_escaped(text_of(row.at("id"))), html_escaped(text_of(row.at("given"))),
      html_escaped(text_of(row.at("predicted"))), png, suspect_words(row), html_word(text_of(row.at("id"))));
}

std::string features_html(const Json& row) {
  std::string text;
  if (!row.contains("features")) return text;
  for (const Json& feature : row.at("features")) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", html_word(text_of(feature.at(0))),
                        html_escaped(number_text(feature.at(1))));
  }
  return text;
}

std::string suspect_table(const Json& rows) {
  const bool known = rows.front().contains("label_changed");
  std::string html =
      "<div class=\"wide\"><table><thead><tr><th scope=\"col\">row</th><th scope=\"col\">given</th>"
      "<th scope=\"col\">predicted</th><th scope=\"col\" class=\"number\">score</th>"
      "<th scope=\"col\" class=\"number\">weight</th>";
  html += known ? "<th scope=\"col\">wrong</th>" : "";
  html += "<th scope=\"col\">features</th></tr></thead><tbody>";
  for (const Json& row : rows) {
    html += fmt::format(
        "<tr><th scope=\"row\" class=\"word\">{}</th><td class=\"word\">{}</td><td class=\"word\">{}</td><td "
        "class=\"number\">{:.3g}</td><td class=\"number\">{:.3g}</td>",
        html_word(text_of(row.at("id"))), html_word(text_of(row.at("given"))),
        html_word(text_of(row.at("predicted"))), row.at("score").get<double>(),
        row.at("weight").get<double>());
    if (known) html += row.at("label_changed").get<bool>() ? "<td>yes</td>" : "<td>no</td>";
    html += fmt::format("<td class=\"features\">{}</td></tr>\n", features_html(row));
  }
  return html + "</tbody></table></div>\n";
}

std::string gallery_html(const Json& gallery) {
  const Json& rows = gallery.at("rows");
  std::string html = fmt::format(
      "<p class=\"soft\">The {} most contradicted of {} suspect rows: given label → "
      "label predicted by the delivered model.</p>\n",
      rows.size(), html_escaped(text_of(gallery.at("suspects"))));
  if (rows.empty()) return html;
  if (!rows.front().contains("png")) return html + suspect_table(rows);
  html += "<ul class=\"gallery\">";
  for (const Json& row : rows) html += picture_item(row);
  return html + "</ul>\n";
}

std::string galleries_section(const ReportInput& input) {
  if (input.galleries.empty()) return "";
  std::string html = heading("Suspect rows");
  const bool several = input.galleries.size() > 1;
  for (const ReportGallery& gallery : input.galleries) {
    html += several ? folded(gallery.method, gallery_html(gallery.rows)) : gallery_html(gallery.rows);
  }
  return html;
}

// --- the two kinds of page

std::string run_body(const ReportInput& input) {
  const Json& summary = input.summary;
  std::string html =
      fmt::format("<h1>{}, {}: {} after {} iterations</h1>\n", html_escaped(text_of(summary.at("problem"))),
                  html_escaped(text_of(summary.at("method"))), html_escaped(text_of(summary.at("status"))),
                  html_escaped(text_of(summary.at("iterations"))));
  if (summary.contains("message")) {
    html += fmt::format("<p class=\"soft\">{}</p>\n", html_escaped(text_of(summary.at("message"))));
  }
  for (const Json& sentence : summary.at("words")) {
    html += fmt::format("<p>{}</p>\n", html_escaped(text_of(sentence)));
  }
  html += curves_section(input) + heading("Measures") + facts_table(summary.at("metrics"));
  html += galleries_section(input) + heading("Settings, data, versions");
  html += folded("Settings", settings_table(summary.at("config")));
  html += folded("Work and messages", facts_table(summary.at("counts")));
  html += folded("Data", facts_table(summary.at("data")));
  return html + folded("Versions", facts_table(summary.at("versions"))) + missing_section(input.missing);
}

std::string comparison_body(const ReportInput& input) {
  const Json& table = input.table;
  std::string html = fmt::format("<h1>{}: {} methods and baselines compared</h1>\n",
                                 html_escaped(text_of(table.at("problem"))), table.at("rows").size());
  html += repeats_list(table) + searches_list(table) + comparison_table(table) + messages_list(table) +
          remarks_list(table, "note", "No value function") +
          remarks_list(table, "dropped", "Workers that were dropped");
  html += curves_section(input) + galleries_section(input) + heading("Settings, data, versions");
  for (const Json& row : table.at("rows")) {
    if (row.contains("config")) {
      html += folded("Settings: " + text_of(row.at("method")), settings_table(row.at("config")));
    }
  }
  html += folded("Data", facts_table(table.at("data")));
  return html + folded("Versions", facts_table(table.at("versions"))) + missing_section(input.missing);
}

}  // namespace

std::string report_page(const ReportInput& input) {
  const bool is_run = !input.summary.is_null();
  const std::string problem = text_of((is_run ? input.summary : input.table).at("problem"));
  return fmt::format(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head><meta "
      "charset=\"utf-8\"/><meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\"/><title>adbo "
      "{}: {}</title><style>{}{}</style></head><body>\n{}</body></html>\n",
      is_run ? "run" : "comparison", html_escaped(problem), kStyle, chart_style(),
      is_run ? run_body(input) : comparison_body(input));
}

}  // namespace adbo::app
