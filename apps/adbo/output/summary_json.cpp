#include "output/summary_json.h"

#include <charconv>
#include <cmath>

#include "adbo/version.h"
#include "io/text.h"

namespace adbo::app {
namespace {

/// As long as the longest silence that occurred.
std::vector<std::int64_t> without_trailing_zeros(std::vector<std::int64_t> histogram) {
  while (!histogram.empty() && histogram.back() == 0) histogram.pop_back();
  return histogram;
}

template <class Number>
Json parsed_number(const std::string& text) {
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size() ? Json(value) : Json(text);
}

/// A number as a number, a flag as true or false.
Json typed_value(const SettingInfo& info, const std::string& text) {
  switch (info.kind) {
    case ValueKind::kInteger:
      return text.starts_with('-') ? parsed_number<std::int64_t>(text) : parsed_number<std::uint64_t>(text);
    case ValueKind::kNumber:
      return parsed_number<double>(text);
    case ValueKind::kFlag:
      return text == "true";
    case ValueKind::kText:
    case ValueKind::kChoice:
      break;
  }
  return text;
}

/// Adds a measure that applies.
void put(Json& json, std::string_view name, double value) {
  if (std::isfinite(value)) json[std::string(name)] = value;
}

Json counts_json(const Counts& counts) {
  return {{"upper_gradients", counts.upper_gradients},
          {"lower_gradients", counts.lower_gradients},
          {"hessian_products", counts.hessian_products},
          {"cross_products", counts.cross_products},
          {"sample_gradients", counts.sample_gradients},
          {"sample_products", counts.sample_products},
          {"rounds", counts.rounds},
          {"messages", counts.messages},
          {"bytes", counts.bytes},
          {"cuts_added", counts.cuts_added},
          {"cuts_dropped", counts.cuts_dropped},
          {"cuts_alive", counts.cuts_alive}};
}

Json metrics_json(const RunFacts& facts) {
  const Summary& summary = *facts.summary;
  Json json = Json::object();
  for (const auto& [name, value] : facts.metrics) put(json, name, value);
  if (facts.held_out) {
    put(json, "held_out_loss", facts.held_out->loss);
    put(json, "held_out_loss_start", facts.held_out->loss_start);
  }
  put(json, "upper_change_max", summary.upper_change_max);
  if (summary.stationarity_gap >= 0) put(json, "stationarity_gap", summary.stationarity_gap);
  if (summary.adjoint_residual >= 0) put(json, "adjoint_residual", summary.adjoint_residual);
  if (summary.consensus_error >= 0) put(json, "consensus_error", summary.consensus_error);
  return json;
}

}  // namespace

Json config_json(const Settings& settings, const Options& options_used) {
  Json json = Json::object();
  if (!settings.preset().empty()) json["preset"] = {{"value", settings.preset()}};
  RunConfig used = settings.config();
  used.options = options_used;
  for (const SettingInfo& info : setting_table()) {
    if ((info.problems & settings.problem_mask()) == 0) continue;
    const std::string value = info.get(settings.config());
    Json entry{{"value", typed_value(info, value)}, {"from", to_string(settings.origin(info.name))}};
    const std::string used_value = info.get(used);
    if (used_value != value) entry["used"] = typed_value(info, used_value);
    json[std::string(info.name)] = std::move(entry);
  }
  return json;
}

Json table_json(const io::Table& table) {
  std::vector<std::int64_t> counts(table.label_names.size());
  for (const std::int32_t label : table.labels) ++counts[static_cast<std::size_t>(label)];
  Json classes = Json::object();
  for (std::size_t c = 0; c < counts.size(); ++c)
    classes[io::detail::as_utf8(table.label_names[c])] = counts[c];
  Json json{{"source", table.source},        {"format", table.format},
            {"rows", table.labels.size()},   {"columns", io::column_count(table)},
            {"classes", std::move(classes)}, {"digest", table.digest}};
  if (table.index_base) json["index_base"] = *table.index_base;
  if (table.sorted_rows > 0) json["sorted_rows"] = table.sorted_rows;
  return json;
}

Json versions_json() {
  Json build = Json::array();
  const std::string_view text = build_description();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    build.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return {{"adbo", version()}, {"build", std::move(build)}, {"instruction_set", instruction_set()}};
}

namespace {

void put_dropped(Json& json, const std::vector<DroppedWorker>& workers) {
  for (const DroppedWorker& dropped : workers) {
    json["dropped_workers"].push_back(
        {{"worker", dropped.worker}, {"iteration", dropped.iteration}, {"why", dropped.why}});
  }
}

Json refit_json(const Summary& refit) {
  Json json;
  json["iterations"] = refit.iterations;
  put(json, "wall_seconds", refit.wall_seconds);
  put(json, "cpu_seconds", refit.cpu_seconds);
  put(json, "virtual_seconds", refit.virtual_seconds);
  json["counts"] = counts_json(refit.counts);
  put_dropped(json, refit.dropped_workers);
  return json;
}

}  // namespace

Json summary_json(const RunFacts& facts) {
  const Summary& summary = *facts.summary;
  const Settings& settings = *facts.settings;
  Json json;
  json["status"] = to_string(summary.termination);
  if (!summary.message.empty()) json["message"] = summary.message;
  if (facts.is_resumable) json["resumable"] = true;
  json["problem"] = to_string(settings.task().problem);
  json["method"] = method_name(summary.method_used);
  json["seed"] = settings.options().seed;
  json["iterations"] = summary.iterations;
  if (facts.held_out) {
    json["delivered_iteration"] = facts.held_out->delivered_iteration;
    if (facts.held_out->refit) json["refit"] = refit_json(*facts.held_out->refit);
    if (const auto& cut = facts.held_out->cut_short) {
      json["refit_cut_short"] = {
          {"iterations", cut->iterations}, {"status", to_string(cut->termination)}, {"why", cut->why}};
    }
  }
  put(json, "wall_seconds", summary.wall_seconds);
  put(json, "cpu_seconds", summary.cpu_seconds);
  put(json, "virtual_seconds", summary.virtual_seconds);
  put(json, "barrier_virtual_seconds", summary.barrier_virtual_seconds);
  if (facts.read_seconds > 0) put(json, "read_seconds", facts.read_seconds);
  json["measured"] = facts.measured == MeasureDepth::kFull ? "full" : "quick";
  put(json, "measure_seconds", facts.measure_seconds);
  json["workers"] = summary.num_workers;
  json["active_workers"] = summary.active_workers;
  json["max_staleness"] = summary.max_staleness;
  json["threads_given"] = summary.threads_given;
  json["threads_used"] = summary.threads_used;
  if (summary.stationarity_iteration >= 0) json["stationarity_iteration"] = summary.stationarity_iteration;
  json["metrics"] = metrics_json(facts);
  json["words"] = facts.words;
  json["counts"] = counts_json(summary.counts);
  json["staleness"] = without_trailing_zeros(summary.staleness_histogram);
  put_dropped(json, summary.dropped_workers);
  json["config"] = config_json(settings, summary.options_used);
  json["data"] = facts.data;
  json["versions"] = versions_json();
  return json;
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace adbo::app
