#include "output/comparison_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "io/atomic_file.h"
#include "io/csv_writer.h"

namespace adbo::app {
namespace {

struct Column {
  std::string_view name;   ///< in files
  std::string_view title;  ///< in the Markdown table; empty: not there
  int decimals = 4;
};

/// All columns, in order; wall and CPU seconds, which no two runs share, stand last.
constexpr std::array kColumns{
    Column{"value_function", "F"},
    Column{"value_function_change", "F - F start"},
    Column{"best_value_function", "best F"},
    Column{"test_accuracy_at_consensus", "acc. consensus"},
    Column{"best_test_accuracy_at_consensus", "best"},
    Column{"test_accuracy_retrained", "acc. retrained"},
    Column{"best_test_accuracy_retrained", "best retrained"},
    Column{"test_accuracy_delivered", "acc. delivered"},
    Column{"detection_auc", "AUC"},
    Column{"detection_auc_weight", ""},
    Column{"detection_f1", ""},
    Column{"test_loss_at_consensus", ""},
    Column{"best_test_loss_at_consensus", ""},
    Column{"test_loss_retrained", ""},
    Column{"held_out_loss", ""},
    Column{"upper_change_max", ""},
    Column{"iterations", "iterations", 0},
    Column{"rounds", ""},
    Column{"sample_gradients", ""},
    Column{"sample_products", ""},
    Column{"messages", ""},
    Column{"bytes", ""},
    Column{"virtual_seconds", "virtual s", 2},
    Column{"wall_seconds", "wall s", 2},
    Column{"cpu_seconds", "CPU s", 2},
};

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool is_used(const ComparisonTable& table, std::string_view column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const ComparedRow& row) {
    return std::any_of(row.runs.begin(), row.runs.end(),
                       [&](const ComparedRun& run) { return std::isfinite(value_of(run, column)); });
  });
}

/// A word of the user's or a message, within a Markdown table.
std::string markdown_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '<' || c == '`' || c == '*' || c == '_') escaped += '\\';
    escaped += c == '\n' || c == '\r' ? ' ' : c;
  }
  return escaped;
}

std::string cell(const ComparedRow& row, const Column& column) {
  const Statistic statistic = statistic_of(row, column.name);
  if (statistic.count == 0) return "";
  const std::string mean = fmt::format("{:.{}f}", statistic.mean, column.decimals);
  if (!std::isfinite(statistic.deviation)) return mean;
  return fmt::format("{} ± {:.{}f}", mean, statistic.deviation, column.decimals);
}

/// Characters, not bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

using Cells = std::vector<std::vector<std::string>>;

/// The first line is the header.
std::string markdown_lines(const Cells& cells) {
  std::vector<std::size_t> widths(cells.front().size(), 3);
  for (const auto& line : cells) {
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], width_of(line[c]));
  }
  std::string text;
  for (std::size_t r = 0; r < cells.size(); ++r) {
    for (std::size_t c = 0; c < widths.size(); ++c) {
      text += fmt::format("| {}{} ", cells[r][c], std::string(widths[c] - width_of(cells[r][c]), ' '));
    }
    text += "|\n";
    if (r > 0) continue;
    for (const std::size_t width : widths) text += "|" + std::string(width + 2, '-');
    text += "|\n";
  }
  return text;
}

std::string table_text(const ComparisonTable& table) {
  std::vector<Column> columns;
  for (const Column& column : kColumns) {
    if (!column.title.empty() && is_used(table, column.name)) columns.push_back(column);
  }
  Cells cells{{"method", "status"}};
  for (const Column& column : columns) cells.front().emplace_back(column.title);
  for (const ComparedRow& row : table.rows) {
    std::vector<std::string>& line = cells.emplace_back();
    line = {markdown_escaped(row.method), markdown_escaped(status_of(row))};
    for (const Column& column : columns) line.push_back(cell(row, column));
  }
  return markdown_lines(cells);
}

std::string repeats_text(const ComparisonTable& table) {
  std::map<std::size_t, std::string> lines;
  std::set<std::string_view> digests;
  for (const ComparedRow& row : table.rows) {
    for (const ComparedRun& run : row.runs) {
      lines.emplace(run.repeat, fmt::format("- repeat {}, seed {}: split, corruption and start {}\n",
                                            run.repeat, run.seed, run.digest));
      digests.insert(run.digest);
    }
  }
  std::string text;
  for (const auto& [repeat, line] : lines) text += line;
  if (lines.size() > 1 && digests.size() == 1) {
    text +=
        "- All repeats have the same split, corruption and start: nothing but delays and draws differs, and "
        "deviations say nothing of other data (split = random splits each repeat anew).\n";
  }
  return text;
}

std::string searches_text(const ComparisonTable& table) {
  std::string text;
  for (const ComparedRow& row : table.rows) {
    if (row.search.is_null()) continue;
    text += fmt::format("- steps of {}: {}\n", markdown_escaped(row.method),
                        markdown_escaped(search_text(row.search)));
  }
  return text;
}

std::string messages_text(const ComparisonTable& table) {
  std::string text;
  for (const ComparedRow& row : table.rows) {
    for (const ComparedRun& run : row.runs) {
      if (run.counts) continue;
      text += fmt::format("- {}, repeat {}: {}{}\n", markdown_escaped(row.method), run.repeat,
                          markdown_escaped(run.status),
                          run.message.empty() ? "" : ": " + markdown_escaped(run.message));
    }
  }
  return text.empty() ? "" : "\nNot in the means:\n\n" + text;
}

/// What there is to say of single runs.
std::string remarks_text(const ComparisonTable& table, std::string ComparedRun::*remark,
                         std::string_view heading) {
  std::string text;
  for (const ComparedRow& row : table.rows) {
    for (const ComparedRun& run : row.runs) {
      if ((run.*remark).empty()) continue;
      text += fmt::format("- {}, repeat {}: {}\n", markdown_escaped(row.method), run.repeat,
                          markdown_escaped(run.*remark));
    }
  }
  return text.empty() ? "" : fmt::format("\n{}:\n\n{}", heading, text);
}

void write_table_csv(const std::string& path, const ComparisonTable& table) {
  const std::vector<std::string_view> columns = columns_of(table);
  std::vector<std::string> names;
  for (const std::string_view column : columns) {
    names.push_back(fmt::format("{}_mean", column));
    names.push_back(fmt::format("{}_deviation", column));
  }
  std::vector<std::string_view> header{"method", "status", "runs"};
  header.insert(header.end(), names.begin(), names.end());
  io::CsvWriter csv(path, header);
  const auto put = [&csv](double value) { std::isfinite(value) ? csv.cell(value) : csv.empty_cell(); };
  for (const ComparedRow& row : table.rows) {
    csv.cell(row.method).cell(status_of(row)).cell(static_cast<std::uint64_t>(row.runs.size()));
    for (const std::string_view column : columns) {
      const Statistic statistic = statistic_of(row, column);
      put(statistic.count == 0 ? kNone : statistic.mean);
      put(statistic.deviation);
    }
    csv.end_row();
  }
  csv.commit();
}

void write_runs_csv(const std::string& path, const ComparisonTable& table) {
  const std::vector<std::string_view> columns = columns_of(table);
  std::vector<std::string_view> header{"method", "repeat", "seed", "digest", "folder", "status", "message"};
  header.insert(header.end(), columns.begin(), columns.end());
  io::CsvWriter csv(path, header);
  for (const ComparedRow& row : table.rows) {
    for (const ComparedRun& run : row.runs) {
      csv.cell(row.method).cell(static_cast<std::uint64_t>(run.repeat)).cell(run.seed).cell(run.digest);
      csv.cell(run.folder).cell(run.status).cell(run.message);
      for (const std::string_view column : columns) {
        const double value = value_of(run, column);
        std::isfinite(value) ? csv.cell(value) : csv.empty_cell();
      }
      csv.end_row();
    }
  }
  csv.commit();
}

Json run_json(const ComparedRun& run) {
  Json json{{"repeat", run.repeat}, {"seed", run.seed},     {"digest", run.digest},
            {"folder", run.folder}, {"status", run.status}, {"counts", run.counts}};
  if (!run.message.empty()) json["message"] = run.message;
  if (!run.note.empty()) json["note"] = run.note;
  if (!run.dropped.empty()) json["dropped"] = run.dropped;
  Json values = Json::object();
  for (const auto& [name, value] : run.values) {
    if (std::isfinite(value)) values[name] = value;
  }
  json["values"] = std::move(values);
  return json;
}

/// What the trials of the chosen candidate came to.
std::string_view trial_text(const Json& search, std::size_t chosen) {
  const Json trials = search.value("trials", Json::array());
  for (const Json& trial : trials) {
    if (trial.at("candidate").get<std::size_t>() != chosen) continue;
    return trial.at("stands").get<bool>() ? "; stands twice its steps" : "; does not stand twice its steps";
  }
  return trials.empty() ? "" : "; not tried with twice its steps";
}

}  // namespace

std::string search_text(const Json& search) {
  if (search.is_null()) return "";
  const Json& candidates = search.at("candidates");
  if (candidates.empty()) return "no steps to search";
  if (!search.contains("chosen")) {
    return fmt::format("as given: none of {} candidates has a result", candidates.size());
  }
  const auto chosen = search.at("chosen").get<std::size_t>();
  std::string steps;
  for (const auto& [name, value] : candidates.at(chosen).at("steps").items()) {
    steps += fmt::format("{}{} = {:.4g}", steps.empty() ? "" : ", ", name, value.get<double>());
  }
  return fmt::format("{} (candidate {} of {}, F {:.4f}{})", steps.empty() ? "as given" : steps, chosen + 1,
                     candidates.size(), search.at("value_function").get<double>(),
                     trial_text(search, chosen));
}

double value_of(const ComparedRun& run, std::string_view column) {
  const auto found = std::find_if(run.values.begin(), run.values.end(),
                                  [&](const auto& entry) { return entry.first == column; });
  return found == run.values.end() ? kNone : found->second;
}

Statistic statistic_of(const ComparedRow& row, std::string_view column) {
  std::vector<double> values;
  for (const ComparedRun& run : row.runs) {
    const double value = value_of(run, column);
    if (run.counts && std::isfinite(value)) values.push_back(value);
  }
  Statistic statistic{values.size(), 0, kNone};
  if (values.empty()) return statistic;
  const double count = static_cast<double>(values.size());
  for (const double value : values) statistic.mean += value / count;
  if (values.size() < 2) return statistic;
  double squares = 0;
  for (const double value : values) squares += (value - statistic.mean) * (value - statistic.mean);
  statistic.deviation = std::sqrt(squares / (count - 1));
  return statistic;
}

std::string status_of(const ComparedRow& row) {
  std::vector<std::pair<std::string_view, std::size_t>> counts;
  for (const ComparedRun& run : row.runs) {
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& entry) { return entry.first == run.status; });
    if (found == counts.end()) {
      counts.emplace_back(run.status, 1);
    } else {
      ++found->second;
    }
  }
  if (counts.size() == 1) return std::string(counts.front().first);
  std::string text;
  for (const auto& [status, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, status);
  }
  return text;
}

std::vector<std::string_view> columns_of(const ComparisonTable& table) {
  std::vector<std::string_view> names;
  for (const Column& column : kColumns) {
    if (is_used(table, column.name)) names.push_back(column.name);
  }
  return names;
}

std::string markdown_text(const ComparisonTable& table) {
  return repeats_text(table) + searches_text(table) + "\n" + table_text(table) + messages_text(table) +
         remarks_text(table, &ComparedRun::note, "No F") +
         remarks_text(table, &ComparedRun::dropped, "Workers that were dropped");
}

Json comparison_json(const ComparisonTable& table) {
  Json json{{"problem", table.problem}, {"rows", Json::array()}};
  const std::vector<std::string_view> columns = columns_of(table);
  for (const ComparedRow& row : table.rows) {
    Json entry{{"method", row.method}, {"status", status_of(row)}, {"mean", Json::object()}};
    entry["deviation"] = Json::object();
    for (const std::string_view column : columns) {
      const Statistic statistic = statistic_of(row, column);
      if (statistic.count > 0) entry["mean"][std::string(column)] = statistic.mean;
      if (std::isfinite(statistic.deviation)) entry["deviation"][std::string(column)] = statistic.deviation;
    }
    entry["runs"] = Json::array();
    for (const ComparedRun& run : row.runs) entry["runs"].push_back(run_json(run));
    if (!row.config.is_null()) entry["config"] = row.config;
    if (!row.search.is_null()) entry["search"] = row.search;
    json["rows"].push_back(std::move(entry));
  }
  json["columns"] = columns;
  json["data"] = table.data;
  json["versions"] = versions_json();
  return json;
}

void write_comparison(const std::string& folder, const ComparisonTable& table) {
  const std::filesystem::path path(folder);
  io::write_file((path / "table.md").string(), markdown_text(table));
  write_table_csv((path / "table.csv").string(), table);
  write_runs_csv((path / "runs.csv").string(), table);
  io::write_file((path / "table.json").string(), json_text(comparison_json(table)));
}

}  // namespace adbo::app
