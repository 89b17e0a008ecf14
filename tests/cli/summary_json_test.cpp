#include "output/summary_json.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "output/result_text.h"

using namespace adbo::app;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Run {
  Settings settings = resolve_settings(
      ProblemKind::kClean,
      {.set = {{"seed", "18446744073709551615", "--set"}, {"label_column", "y\"\\\n", "--set"}}});
  adbo::Summary summary;
  RunFacts facts;

  Run() {
    summary.termination = adbo::Termination::kIterationLimit;
    summary.method_used = adbo::Method::kAdbo;
    summary.iterations = 7;
    summary.wall_seconds = 0.5;
    summary.virtual_seconds = kNaN;
    summary.upper_change_max = 0.25;
    summary.options_used = settings.options();
    summary.options_used.active_workers = 9;
    summary.staleness_histogram = {3, 0, 1};
    facts.settings = &settings;
    facts.summary = &summary;
    facts.metrics = {{"value_function", 0.125},
                     {"detection_auc", kNaN},
                     {"test_loss", std::numeric_limits<double>::infinity()}};
    facts.data = Json::object();
    facts.words = {"A sentence with \"quotes\"."};
  }
};

}  // namespace

TEST_CASE("summary: the text parses back, whatever the numbers") {
  Run run;
  const std::string text = json_text(summary_json(run.facts));
  const Json json = Json::parse(text);  // throws on NaN tokens
  CHECK(json["status"] == "iteration_limit");
  CHECK(json["method"] == "adbo");
  CHECK(json["problem"] == "clean");
  CHECK(json["iterations"] == 7);
  CHECK(json["seed"] == 18446744073709551615ULL);
  CHECK(json["metrics"]["value_function"] == 0.125);
  CHECK(json["metrics"]["upper_change_max"] == 0.25);
  CHECK(!json["metrics"].contains("detection_auc"));
  CHECK(!json["metrics"].contains("test_loss"));
  CHECK(!json["metrics"].contains("stationarity_gap"));
  CHECK(!json.contains("virtual_seconds"));
  CHECK(!json.contains("message"));
  CHECK(json["staleness"] == Json({3, 0, 1}));
  CHECK(json["words"][0] == "A sentence with \"quotes\".");
  CHECK(text.find("null") == std::string::npos);
  for (const char* const key :
       {"cuts_added", "cuts_dropped", "cuts_alive", "messages", "bytes", "cross_products"}) {
    CHECK(json["counts"].contains(key));
  }
}

TEST_CASE("summary: the configuration says value, origin and what automatic became") {
  Run run;
  const Json config = summary_json(run.facts)["config"];
  CHECK(config["seed"]["from"] == "set");
  CHECK(config["active_workers"]["value"] == 0);
  CHECK(config["active_workers"]["used"] == 9);
  CHECK(config["active_workers"]["from"] == "default");
  CHECK(config["step_upper_local"]["value"] == 0.001);
  CHECK(!config["step_upper_local"].contains("used"));
  CHECK(config["json"]["value"] == false);
  CHECK(config["label_column"]["value"] == "y\"\\\n");
  CHECK(config.contains("ridge"));
  CHECK(!config.contains("parametrization"));  // of another problem
}

TEST_CASE("summary: labels that are no UTF-8 do not break it") {
  Json json;
  json["label"] = "caf\xe9";
  CHECK(Json::accept(json_text(json)));
}

TEST_CASE("summary: labels that are no UTF-8 stay apart") {
  adbo::io::Table table;
  table.features = adbo::kernels::DenseRows(2, 1);
  table.label_names = {"\xFE", "\xFF"};
  table.labels = {0, 1};
  const Json json = table_json(table);
  CHECK(json["classes"]["\\xFE"] == 1);
  CHECK(json["classes"]["\\xFF"] == 1);
  CHECK(Json::parse(json_text(json)) == json);
}

TEST_CASE("summary: classes are counted under the names the user wrote") {
  adbo::io::Table table;
  table.features = adbo::kernels::DenseRows(3, 2);
  table.label_names = {"ham", "spam"};
  table.labels = {1, 1, 0};
  table.source = "mail.csv";
  const Json json = table_json(table);
  CHECK(json["classes"]["spam"] == 2);
  CHECK(json["classes"]["ham"] == 1);
  CHECK(json["rows"] == 3);
  CHECK(json["columns"] == 2);
}

TEST_CASE("summary: the text for people leaves out what does not apply") {
  Run run;
  run.summary.virtual_seconds = 0.25;
  const std::string text = result_text(run.facts, "adbo-out");
  CHECK(text.find("value function") != std::string::npos);
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("inf\n") == std::string::npos);
  CHECK(text.find("A sentence with") != std::string::npos);
  CHECK(text.find("adbo-out") != std::string::npos);
}
