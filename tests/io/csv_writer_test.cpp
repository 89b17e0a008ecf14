#include "io/csv_writer.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <string>

#include "io/csv.h"
#include "io_support.h"

namespace adbo::io {
namespace {

using test::get_file;
using test::put_file;
using test::TemporaryDirectory;

constexpr std::array<std::string_view, 2> kHeader = {"id", "value"};

std::size_t files_in(const TemporaryDirectory& directory) {
  const std::filesystem::directory_iterator begin(directory.path());
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
}

template <typename Action>
std::string output_error(Action action) {
  try {
    action();
  } catch (const OutputError& error) {
    return error.what();
  }
  FAIL("expected an OutputError");
  return {};
}

TEST_CASE("cells of every kind") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.csv";
  CsvWriter writer(path, kHeader);
  writer.cell("plain").cell(0.1).end_row();
  writer.cell("a,b").cell(std::int64_t{-7}).end_row();
  writer.cell("say \"hi\"").cell(std::uint64_t{18446744073709551615u}).end_row();
  writer.cell("two\nlines").cell(true).end_row();
  writer.cell(" blank").cell(std::nan("")).end_row();
  writer.cell(std::string("")).cell(-std::numeric_limits<double>::infinity()).end_row();
  writer.empty_cell().cell(-std::nan("")).end_row();
  writer.cell(3).empty_cell().end_row();
  writer.commit();
  CHECK(get_file(path) ==
        "id,value\nplain,0.1\n\"a,b\",-7\n\"say \"\"hi\"\"\",18446744073709551615\n\"two\nlines\",1\n\" "
        "blank\",nan\n"
        ",-inf\n,nan\n3,\n");
}

TEST_CASE("an empty cell in a single column is no empty line") {
  const TemporaryDirectory directory;
  const std::array<std::string_view, 1> header = {"x"};
  CsvWriter writer(directory / "a.csv", header);
  writer.empty_cell().end_row();
  writer.commit();
  CHECK(get_file(directory / "a.csv") == "x\n\"\"\n");
}

TEST_CASE("numbers read back to the same bits") {
  const TemporaryDirectory directory;
  std::mt19937_64 random(1);
  std::vector<double> numbers;
  const std::array<std::string_view, 1> header = {"x"};
  CsvWriter writer(directory / "a.csv", header);
  while (numbers.size() < 10'000) {  // more than one buffer
    const auto number = std::bit_cast<double>(static_cast<std::uint64_t>(random()));
    if (!std::isfinite(number)) continue;
    numbers.push_back(number);
    writer.cell(number).end_row();
  }
  writer.commit();
  const std::string text = get_file(directory / "a.csv");
  std::size_t at = text.find('\n') + 1;
  for (const double number : numbers) {
    const std::size_t end = text.find('\n', at);
    CHECK(std::strtod(text.substr(at, end - at).c_str(), nullptr) == number);
    at = end + 1;
  }
  CHECK(at == text.size());
}

TEST_CASE("what is written can be read") {
  const TemporaryDirectory directory;
  const std::array<std::string_view, 3> header = {"id", "x, y", "label"};
  CsvWriter writer(directory / "a.csv", header);
  writer.cell("r\"1").cell(0.5).cell("a,b").end_row();
  writer.cell("r2").cell(2).cell("c").end_row();
  writer.commit();
  const Table table = read_csv(directory / "a.csv", {"label", "id", HeaderMode::kAuto});
  CHECK(table.ids == test::Names{"r\"1", "r2"});
  CHECK(table.feature_names == test::Names{"x, y"});
  CHECK(table.label_names == test::Names{"a,b", "c"});
}

TEST_CASE("rows must fit the header") {
  const TemporaryDirectory directory;
  CsvWriter writer(directory / "a.csv", kHeader);
  writer.cell("x");
  CHECK_THROWS_AS(writer.end_row(), std::logic_error);
  CHECK_THROWS_AS(writer.commit(), std::logic_error);
  CHECK_THROWS_AS(CsvWriter(directory / "b.csv", {}), std::invalid_argument);
}

TEST_CASE("a file appears only when it is committed") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.csv";
  put_file(path, "old");
  {
    CsvWriter writer(path, kHeader);
    writer.cell("x").cell(1).end_row();
    CHECK(get_file(path) == "old");
    CHECK(files_in(directory) == 2);
  }
  CHECK(get_file(path) == "old");
  CHECK(files_in(directory) == 1);
  write_file(path, "new");
  CHECK(get_file(path) == "new");
  CHECK(files_in(directory) == 1);
}

TEST_CASE("two writers of one name do not mix") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a";
  AtomicFile first(path), second(path);
  first.write("first");
  second.write("second");
  first.commit();
  CHECK(get_file(path) == "first");
  second.commit();
  CHECK(get_file(path) == "second");
}

TEST_CASE("symbolic links are followed") {
  const TemporaryDirectory directory;
  put_file(directory / "target", "old");
  std::filesystem::create_symlink("target", directory / "link");
  write_file(directory / "link", "new");
  CHECK(std::filesystem::is_symlink(directory / "link"));
  CHECK(get_file(directory / "target") == "new");
}

TEST_CASE("the file has the permissions that the user's mask allows") {
  const TemporaryDirectory directory;
  const mode_t before = ::umask(027);
  write_file(directory / "a", "x");
  ::umask(before);
  struct stat status {};
  REQUIRE(::stat((directory / "a").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("a full disk is reported") {
  if (!std::filesystem::exists("/dev/full")) {
    MESSAGE("skipped: no /dev/full here");
    return;
  }
  CHECK(output_error([] { write_file("/dev/full", "x"); }) ==
        "/dev/full: cannot be written: No space left on device");
  CHECK(output_error([] {
          CsvWriter writer("/dev/full", kHeader);
          writer.cell("x").cell(1).end_row();
          writer.commit();
        }) == "/dev/full: cannot be written: No space left on device");
}

/// Writing beyond the limit fails with EFBIG instead of a signal, within this scope.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    previous_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    rlimit limited = before_;
    limited.rlim_cur = bytes;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, previous_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*previous_handler_)(int) = nullptr;
};

TEST_CASE("a write that fails half way leaves the old file and no remains") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.csv";
  put_file(path, "old");
  std::string message;
  {
    const FileSizeLimit limit(100'000);
    message = output_error([&] {
      CsvWriter writer(path, kHeader);
      for (int row = 0; row < 50'000; ++row) writer.cell(row).cell(0.5).end_row();
      writer.commit();
    });
  }
  CHECK(message == path + ": cannot be written: File too large");
  CHECK(get_file(path) == "old");
  CHECK(files_in(directory) == 1);
}

TEST_CASE("places where no file can be") {
  CHECK(output_error([] { write_file("/nonexistent-directory/a", "x"); }) ==
        "/nonexistent-directory/a: cannot be created: No such file or directory");
  const TemporaryDirectory directory;
  const std::string here = directory.path().string();
  CHECK(output_error([&] { write_file(here, "x"); }) == here + ": cannot be created: Is a directory");
}

}  // namespace
}  // namespace adbo::io
