#include "io/growing_file.h"

#include <filesystem>
#include <string>

#include "io_support.h"

namespace adbo::io {
namespace {

using test::get_file;
using test::put_file;
using test::TemporaryDirectory;

constexpr std::string_view kBefore = "one\ntwo\nthree\n";

/// What a file of kBefore held, goes on with what `there` is by now, and says "four" in addition.
Continuation continued(const std::string& path, std::string_view there) {
  GrowingFile first(path);
  first.begin();
  first.write(kBefore);
  const Extent had = first.flushed();
  CHECK(had.bytes == kBefore.size());
  first.finish();
  put_file(path, there);
  GrowingFile second(path);
  const Continuation found = second.continue_at(had);
  second.write("four\n");
  const Extent now = second.flushed();
  second.finish();
  CHECK(now.bytes == get_file(path).size());
  CHECK(now.digest == Digest().update(get_file(path)));
  return found;
}

TEST_CASE("a growing file goes on with what it had") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.csv";
  CHECK(continued(path, kBefore) == Continuation::kWhole);
  CHECK(get_file(path) == "one\ntwo\nthree\nfour\n");
  CHECK(continued(path, "one\ntwo\nthree\nmore\nand hal") == Continuation::kWhole);
  CHECK(get_file(path) == "one\ntwo\nthree\nfour\n");
}

TEST_CASE("a growing file that was changed goes on with its whole lines") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.csv";
  CHECK(continued(path, "one\ntwO\nthree\n") == Continuation::kChanged);
  CHECK(get_file(path) == "one\ntwO\nthree\nfour\n");
  CHECK(continued(path, "one\nand\ntwo\nthree\n") == Continuation::kChanged);
  CHECK(get_file(path) == "one\nand\ntwo\nfour\n");
  CHECK(continued(path, "no line end at all") == Continuation::kChanged);
  CHECK(get_file(path) == "four\n");
}

TEST_CASE("a growing file that lost its end goes on with its whole lines") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.csv";
  CHECK(continued(path, "one\ntwo\nthr") == Continuation::kShorter);
  CHECK(get_file(path) == "one\ntwo\nfour\n");
  CHECK(continued(path, "") == Continuation::kShorter);
  CHECK(get_file(path) == "four\n");
  std::filesystem::remove(path);
  GrowingFile file(path);
  CHECK(file.continue_at({.bytes = 5, .digest = {}}) == Continuation::kShorter);
  file.finish();
  CHECK(get_file(path).empty());
}

TEST_CASE("a growing file of many parts is known by all of its bytes") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.csv";
  GrowingFile first(path);
  first.begin();
  for (int k = 0; k < 20000; ++k) first.write("a line of the file\n");  // several times what is read at once
  const Extent had = first.flushed();
  first.finish();
  std::string bytes = get_file(path);
  CHECK(GrowingFile(path).continue_at(had) == Continuation::kWhole);
  for (const std::size_t at : {std::size_t{0}, bytes.size() / 2, bytes.size() - 2}) {
    std::string changed = bytes;
    changed[at] ^= 1;
    put_file(path, changed);
    CHECK(GrowingFile(path).continue_at(had) == Continuation::kChanged);
    CHECK(get_file(path) == changed);
  }
}

}  // namespace
}  // namespace adbo::io
