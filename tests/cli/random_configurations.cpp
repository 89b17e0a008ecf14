// Random combinations of options, good ones and bad ones, on small files of every format: the command has to
// end within its limit, with a documented exit code, an answer that says what was wrong, and files and output
// that can be read. A program of its own, so that a long search is a matter of its arguments:
//
//   random_configurations [COUNT [SEED]]    runs number SEED, SEED + 1, ...: each depends on its number alone
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "adbo/method_table.h"
#include "adbo/option_table.h"
#include "run_command.h"
#include "settings/setting_table.h"
#include "support/zip_writer.h"

namespace {

namespace fs = std::filesystem;
using adbo::app::ProblemKind;
using adbo::app::SettingInfo;
using adbo::app::ValueKind;
using adbo::io::test::gzip;
using adbo::io::test::little_endian;
using adbo::io::test::npy;
using adbo::io::test::zip;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

constexpr std::chrono::seconds kLimit{ADBO_RUN_LIMIT_SECONDS};

constexpr std::array kStopSignals{SIGINT, SIGTERM, SIGHUP};

/// The numbers of one run.
class Dice {
 public:
  explicit Dice(std::uint64_t number) : random_(number) {}

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  bool chance(double share) { return static_cast<double>(random_() >> 11) * 0x1.0p-53 < share; }
  template <class List>
  const auto& one_of(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::mt19937_64 random_;
};

// --- files

std::string csv_rows(int rows, bool header) {
  std::mt19937_64 random(7);
  std::ostringstream text;
  if (header) text << "\xEF\xBB\xBFid,a,\"b, c\",class\r\n";
  for (int r = 0; r < rows; ++r) {
    const int kind = r % 3;
    text << 'r' << r << ',' << kind + static_cast<double>(random() % 1000) / 700 << ",\"" << random() % 9
         << "\","
         << (kind == 0   ? "caf\xE9"
             : kind == 1 ? "\"<b>\"\"2\"\"\""
                         : "\xE2\x80\xAEthree")
         << "\r\n";
  }
  return text.str();
}

std::string sparse_rows(int rows) {
  std::mt19937_64 random(9);
  std::ostringstream text;
  for (int r = 0; r < rows; ++r) {
    text << r % 3 + 1 << " qid:4 " << r % 3 << ":1 " << 3 + random() % 20 << ":-1e-1 " << 30 + random() % 9
         << ":0 # x\r\n";
  }
  return text.str();
}

std::string cifar_records(int records) {
  std::mt19937_64 random(11);
  std::string bytes;
  for (int r = 0; r < records; ++r) {
    bytes += static_cast<char>(r % 2);
    for (int p = 0; p < 3072; ++p) bytes += static_cast<char>(random() % 100 + (r % 2 == 0 ? 0 : 90));
  }
  return bytes;
}

/// A training file, the options it needs, and whether it can be read at all.
struct DataSet {
  std::string file;
  Words options;
};

struct DataSets {
  std::vector<DataSet> good, bad;
};

DataSets write_data(const adbo::test::Workspace& files) {
  const auto put = [&](const std::string& name, const std::string& bytes, const Words& options = {}) {
    return DataSet{files.write(name, bytes), options};
  };
  const std::string two = adbo::test::libsvm_rows(60, 4, 1), images = adbo::test::idx_images(60, 2);
  std::string doubles, labels;
  std::mt19937_64 random(3);
  for (int r = 0; r < 60; ++r) {
    labels += static_cast<char>(r % 2);
    for (int c = 0; c < 3; ++c)
      doubles +=
          little_endian(0x3ff0000000000000U + (random() >> 12) + (r % 2 == 0 ? 0 : 0x10000000000000U), 8);
  }
  const std::string array = npy("<f8", "(60, 3)", doubles), classes = npy("|u1", "(60,)", labels);
  files.write("labels.idx", adbo::test::idx_labels(60));
  files.write("labels.npy", classes);
  (void)files.write("two.libsvm.gz", gzip(two));
  DataSets sets;
  sets.good = {put("two.libsvm", two),
               {files.path("two.libsvm.gz"), {}},
               put("sparse.libsvm", sparse_rows(60)),
               put("named.csv", csv_rows(60, true), {"--label-column", "class", "--id-column", "id"}),
               put("plain.csv", csv_rows(60, false), {"--id-column", "1"}),
               put("images.idx", images, {"--train-labels", files.path("labels.idx")}),
               put("array.npy", array, {"--train-labels", files.path("labels.npy")}),
               put("both.npz", zip({{"X.npy", array}, {"y.npy", classes}})),
               // 3,072 features: what factors Hessians of them takes seconds an iteration.
               put("cifar.bin", cifar_records(8), {"--time-limit", "20"})};
  std::string broken = two;
  broken[two.size() / 2] = ':';
  sets.bad = {{files.path("nowhere"), {}},
              put("one-class.libsvm", "1 1:1\n1 1:2\n1 1:3\n1 1:4\n"),
              put("cut.idx", images.substr(0, 300)),
              put("cut.npz", zip({{"X.npy", array}}).substr(0, 500)),
              put("two.npz", zip({{"a.npy", array}, {"b.npy", array}})),
              put("broken.libsvm", broken),
              put("huge.libsvm", two + "1 2147483640:1\n"),
              put("ragged.csv", "a,b,c\n1,2,3\n1,2\n"),
              put("missing.csv", "1,2,a\n1,,b\n"),
              put("empty", ""),
              put("few.libsvm", "1 1:1\n-1 1:2\n"),
              {files.path("."), {}}};
  return sets;
}

// --- options

/// "one of a, b, c": the words.
Words choices_of(const SettingInfo& info) {
  constexpr std::string_view kFront = "one of ";
  Words words;
  std::string_view rest = info.expectation;
  if (!rest.starts_with(kFront)) return {"auto", "none"};
  rest.remove_prefix(kFront.size());
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return words;
}

bool is_accepted(const SettingInfo& info, const std::string& value) {
  adbo::app::RunConfig config;
  return info.set(config, value).empty();
}

/// A value that could be meant. Integers are small, for as long as a run is asked to be it may be.
std::string good_value(const SettingInfo& info, Dice& dice) {
  static const std::map<std::string_view, Words> kOwn{
      {"delay", {"none", "lognormal:0,1", "lognormal:-3,2"}},
      {"stragglers", {"none", "1:4", "2:0.5", "1:1e6"}},
      {"bounds", {"auto", "none", "-1,1", "-1e300,1e300", "0,0.5"}},
      {"label_column", {"class", "1", "-1", "2", "none"}},
      {"id_column", {"id", "1", "-2"}},
      {"positive_class", {"1", "-1", "2", "caf\xE9", "0"}},
      {"threads", {"0", "1", "2", "3"}},
      {"seed", {"0", "1", "7", "18446744073709551615"}},
      {"time_limit", {"0", "0.05", "1"}}};
  if (const auto own = kOwn.find(info.name); own != kOwn.end()) return dice.one_of(own->second);
  static const Words kIntegers{"0", "1", "2", "3", "4", "5", "7", "10", "12", "-1"};
  static const Words kNumbers{"0",   "0.001", "0.1",  "0.3",   "0.5",    "0.9", "1",
                              "2.5", "10",    "1e-8", "1e300", "1e-300", "-1"};
  const Words& pool = info.kind == ValueKind::kInteger ? kIntegers : kNumbers;
  if (info.kind == ValueKind::kChoice) return dice.one_of(choices_of(info));
  for (;;) {
    const std::string value = dice.one_of(pool);
    if (is_accepted(info, value)) return value;
  }
}

std::string bad_value(Dice& dice) {
  static const Words kBad{
      "",   "abc", "nan", "inf",  "-inf",        "1e999", "99999999999999999999999", "-5", "0x10", "1,2,",
      " 1", "1 ",  "--",  "\xff", "lognormal:1", "true"};
  return dice.one_of(kBad);
}

std::string flag_of(const SettingInfo& info) {
  std::string flag = "--" + std::string(info.name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

/// Where a value is given; the name of a file of data is for the caller to choose.
bool is_of_a_file(const SettingInfo& info) {
  constexpr std::array<std::string_view, 7> kFiles{"train", "train_labels", "validation", "validation_labels",
                                                   "test",  "test_labels",  "out"};
  return std::find(kFiles.begin(), kFiles.end(), info.name) != kFiles.end();
}

/// Settings that this problem and method know.
bool fits(const SettingInfo& info, ProblemKind problem, adbo::Method method) {
  if ((info.problems & adbo::app::mask_of(problem)) == 0) return false;
  return !info.of_engine || adbo::acts_on(*adbo::find_option(info.name), method);
}

struct Case {
  Words words;
  bool json = false;
  bool compares = false;
  bool makes_no_run = false;  ///< info, report, help
  int signal = 0;             ///< sent after a moment; 0: none
};

class CaseMaker {
 public:
  CaseMaker(const adbo::test::Workspace& files, const DataSets& data, Dice& dice)
      : files_(files), data_(data), dice_(dice) {}

  Case make() {
    if (dice_.chance(0.04)) return of_no_run();
    const std::size_t kind = dice_.below(10);
    if (kind < 4) return run_of("clean", ProblemKind::kClean);
    if (kind < 7) return run_of("tune", ProblemKind::kTune);
    if (kind < 9) return from_file();
    return comparison();
  }

 private:
  Case of_no_run() {
    static const std::vector<Words> kLists{
        {"info"},         {"info", "--options"}, {"info", "--json"}, {"--help"}, {"clean", "--help"},
        {"--version"},    {"report", "nowhere"}, {"report", "out"},  {},         {"cleam"},
        {"tune", "stray"}};
    Case made;
    made.words = dice_.one_of(kLists);
    made.makes_no_run = true;
    made.json = made.words.size() == 2 && made.words[1] == "--json";
    return made;
  }

  void add_settings(Case& made, ProblemKind problem, adbo::Method method) {
    const bool sensible = dice_.chance(0.65);
    for (std::size_t left = dice_.below(sensible ? 5 : 4); left > 0; --left) {
      const SettingInfo& info = dice_.one_of(adbo::app::setting_table());
      if (is_of_a_file(info) || info.name == "iterations" || info.name == "method" || info.name == "json")
        continue;
      if (sensible && !fits(info, problem, method)) continue;
      if (info.kind == ValueKind::kFlag) {
        made.words.push_back(flag_of(info));
        continue;
      }
      const std::string value = !sensible && dice_.chance(0.5) ? bad_value(dice_) : good_value(info, dice_);
      if (dice_.chance(0.2)) {
        made.words.insert(made.words.end(), {"--set", std::string(info.name) + "=" + value});
      } else {
        made.words.insert(made.words.end(), {flag_of(info), value});
      }
    }
    made.json = dice_.chance(0.3);
    if (made.json) made.words.emplace_back("--json");
    if (dice_.chance(0.05)) made.signal = dice_.one_of(kStopSignals);
  }

  /// A copy of a good file with a few bytes changed, left out or doubled.
  DataSet damaged() {
    const DataSet& good = dice_.one_of(data_.good);
    std::string bytes = files_.read(fs::path(good.file).filename().string());
    for (std::size_t edits = 1 + dice_.below(4); edits > 0; --edits) {
      const std::size_t at = dice_.below(bytes.size());
      if (dice_.chance(0.6)) {
        bytes[at] = static_cast<char>(dice_.below(256));
      } else if (dice_.chance(0.5)) {
        bytes.erase(at, 1 + dice_.below(9));
      } else {
        bytes.insert(at, bytes.substr(dice_.below(bytes.size()), 1 + dice_.below(9)));
      }
    }
    return {files_.write("damaged", bytes), good.options};
  }

  void add_data(Case& made) {
    const DataSet train = dice_.chance(0.1)   ? dice_.one_of(data_.bad)
                          : dice_.chance(0.1) ? damaged()
                                              : dice_.one_of(data_.good);
    made.words.insert(made.words.end(), {"--train", train.file});
    made.words.insert(made.words.end(), train.options.begin(), train.options.end());
    for (const std::string role : {"test", "validation"}) {
      if (!dice_.chance(role == "test" ? 0.5 : 0.2)) continue;
      // Mostly a file that fits the training file.
      const DataSet& other = dice_.chance(0.9) ? train : dice_.one_of(data_.good);
      made.words.insert(made.words.end(), {"--" + role, other.file});
      if (!other.options.empty() && other.options.front() == "--train-labels")
        made.words.insert(made.words.end(), {"--" + role + "-labels", other.options.back()});
    }
  }

  void add_limits(Case& made) {
    made.words.insert(made.words.end(), {"--iterations", std::to_string(dice_.below(15)), "--out", "out"});
    if (dice_.chance(0.7))
      made.words.insert(made.words.end(), {"--workers", std::to_string(1 + dice_.below(5))});
    if (dice_.chance(0.5)) made.words.insert(made.words.end(), {"--clock", "virtual"});
  }

  /// STABLE keeps a matrix of the size of the model squared: with the pictures of CIFAR it takes ten seconds
  /// an iteration.
  [[nodiscard]] bool takes_long(const Case& made, adbo::Method method) const {
    const auto is_large = [this](const std::string& word) {
      return word == files_.path("cifar.bin") || word == files_.path("damaged");
    };
    return method == adbo::Method::kStable && std::any_of(made.words.begin(), made.words.end(), is_large);
  }

  adbo::Method add_method(Case& made) {
    const adbo::MethodInfo& method = dice_.one_of(adbo::method_table());
    if (!dice_.chance(0.7) || takes_long(made, method.method)) return adbo::Method::kAuto;
    made.words.insert(made.words.end(), {"--method", std::string(method.name)});
    return method.method;
  }

  Case run_of(const std::string& command, ProblemKind problem) {
    Case made;
    made.words = {command};
    add_data(made);
    add_limits(made);
    add_settings(made, problem, add_method(made));
    return made;
  }

  /// `run` with a file of settings: the quadratic family, or a task named there.
  Case from_file() {
    Case made;
    std::string text = "problem = \"quadratic\"\n";
    ProblemKind problem = ProblemKind::kQuadratic;
    if (dice_.chance(0.3)) {
      problem = ProblemKind::kTune;
      text = "problem = \"tune\"\ntrain = '" + data_.good.front().file + "'\n";
    }
    static const Words kLines{"[group]\npatience = 3\n",
                              "upper_dim = 3\n",
                              "condition = 1e3\n",
                              "heterogeneity = 0\n",
                              "lower_dim = 2.5\n",
                              "methods = 3\n",
                              "= 1\n",
                              "x = [1, 2]\n",
                              "label_column = \"\\u0041\"\n",
                              "seed = 3\n",
                              "max_staleness = 4\n"};
    for (std::size_t left = dice_.below(3); left > 0; --left) text += dice_.one_of(kLines);
    made.words = {"run", files_.write("settings.toml", text)};
    add_limits(made);
    add_settings(made, problem, add_method(made));
    return made;
  }

  Case comparison() {
    Case made;
    made.compares = true;
    const ProblemKind problem = dice_.chance(0.5) ? ProblemKind::kClean : ProblemKind::kTune;
    add_data(made);
    std::string methods;
    for (const std::string_view between : {"", dice_.chance(0.5) ? "," : " , "}) {
      const adbo::MethodInfo& method = dice_.one_of(adbo::method_table());
      methods += between;
      methods += takes_long(made, method.method) ? "exact" : method.name;
    }
    const Words data = made.words;
    made.words = {"compare", "--problem", std::string(to_string(problem)),   "--methods",
                  methods,   "--repeat",  std::to_string(1 + dice_.below(2))};
    made.words.insert(made.words.end(), data.begin(), data.end());
    add_limits(made);
    add_settings(made, problem, adbo::Method::kAuto);
    return made;
  }

  const adbo::test::Workspace& files_;
  const DataSets& data_;
  Dice& dice_;
};

// --- running and checking

struct Ending {
  int code = 0;
  bool by_signal = false, in_time = true;
  std::string out, err;
};

[[noreturn]] void become(const adbo::test::Workspace& files, const Words& words) {
  const auto redirect = [&files](const char* name, int descriptor) {
    const int file = ::open(files.path(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(126);
  };
  if (::chdir(files.path(".").c_str()) != 0) ::_exit(126);
  redirect("stdout", STDOUT_FILENO);
  redirect("stderr", STDERR_FILENO);
  Words all{ADBO_COMMAND};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

Ending run(const adbo::test::Workspace& files, const Case& made) {
  using Clock = std::chrono::steady_clock;
  const pid_t process = ::fork();
  if (process == 0) become(files, made.words);
  Ending ending;
  int status = 0;
  const Clock::time_point begin = Clock::now();
  bool is_signalled = made.signal == 0;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto elapsed = Clock::now() - begin;
    if (!is_signalled && elapsed > std::chrono::milliseconds(15)) {
      ::kill(process, made.signal);
      is_signalled = true;
    }
    if (elapsed > kLimit) {
      ending.in_time = false;
      ::kill(process, SIGKILL);
      ::waitpid(process, &status, 0);
      break;
    }
  }
  ending.by_signal = WIFSIGNALED(status);
  ending.code = ending.by_signal ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  ending.out = files.read("stdout");
  ending.err = files.read("stderr");
  return ending;
}

/// What is wrong with how the command ended, or "".
std::string fault_of(const adbo::test::Workspace& files, const Case& made, const Ending& ending) {
  if (!ending.in_time) return "did not end within its limit";
  const bool was_stopped = std::any_of(kStopSignals.begin(), kStopSignals.end(),
                                       [&](int signal) { return ending.code == 128 + signal; });
  if (was_stopped && made.signal == 0) return "ended as by a signal that nobody sent";
  if (ending.by_signal && !was_stopped) return "ended by a signal of its own";
  constexpr std::array kDocumented{0, 2, 3, 4, 5, 6, 7, 129, 130, 143};
  if (std::find(kDocumented.begin(), kDocumented.end(), ending.code) == kDocumented.end())
    return "an exit code that no input should lead to";
  if (ending.err.find('\r') != std::string::npos) return "a carriage return on stderr, which is a file";
  if (ending.err.find("terminate called") != std::string::npos) return "ended by an exception";
  if (ending.by_signal) return {};  // before it listened
  if (ending.code == 2 || ending.code == 3) {
    if (ending.err.find("adbo: error: ") == std::string::npos) return "refused without a word";
    if (!ending.out.empty() && !made.compares) return "refused, and yet something is on stdout";
    return {};
  }
  if (ending.out.empty()) return "nothing on stdout";
  if (made.json && !Json::accept(ending.out)) return "stdout is no valid JSON";
  if (made.makes_no_run) return {};
  const std::string file = made.compares ? "out/table.json" : "out/summary.json";
  if (made.compares && was_stopped && !files.exists(file)) return {};  // before the first repeat was over
  if (!Json::accept(files.read(file))) return file + " is no valid JSON";
  for (const auto& entry : fs::recursive_directory_iterator(files.path("out"))) {
    if (entry.path().string().find(".partial") != std::string::npos) return "a half file is left behind";
  }
  return {};
}

std::string quoted(const Words& words) {
  std::string line = "adbo";
  for (const std::string& word : words) line += fmt::format(" '{}'", word);
  return line;
}

/// The page of what a run left has to be there.
std::string report_fault(const adbo::test::Workspace& files) {
  const Ending ending = run(files, {.words = {"report", "out"}});
  if (!ending.in_time) return "report: did not end within its limit";
  if (ending.code != 0) return "report: " + ending.err;
  return files.read("out/report.html").find("</html>") == std::string::npos ? "report: no page" : "";
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 40;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const adbo::test::Workspace files;
  const DataSets data = write_data(files);
  std::map<int, std::size_t> codes;
  std::size_t faults = 0;
  double longest = 0;
  for (std::uint64_t number = first; number < first + count; ++number) {
    Dice dice(number);
    const Case made = CaseMaker(files, data, dice).make();
    fs::remove_all(files.path("out"));
    const auto begin = std::chrono::steady_clock::now();
    const Ending ending = run(files, made);
    longest =
        std::max(longest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    ++codes[ending.code];
    std::string fault = fault_of(files, made, ending);
    const bool has_run = !made.makes_no_run && (ending.code == 0 || ending.code == 4);
    if (fault.empty() && has_run && dice.chance(0.2)) fault = report_fault(files);
    if (fault.empty()) continue;
    ++faults;
    std::cout << "run " << number << ": " << fault << "\n  " << quoted(made.words) << "\n  exit code "
              << ending.code << ", stderr: " << ending.err << std::endl;
  }
  std::cout << count << " runs, longest " << longest << " s, exit codes:";
  for (const auto& [code, times] : codes) std::cout << ' ' << code << " x " << times;
  std::cout << "; " << faults << " faults" << std::endl;
  return faults == 0 ? 0 : 1;
}
