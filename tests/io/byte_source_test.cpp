#include "io/byte_source.h"

#include <sys/stat.h>

#include <string>

#include "io_support.h"

namespace adbo::io {
namespace {

using test::gzip;
using test::message_of;
using test::put_file;

bool contains(const std::string& text, const std::string& piece) { return text.find(piece) != text.npos; }

TEST_CASE("plain and packed files give the same bytes, whatever their names") {
  const test::TemporaryDirectory directory;
  const std::string plain = "some bytes\n" + std::string(200'000, 'x');  // more than one buffer
  put_file(directory / "plain.gz", plain);
  put_file(directory / "packed.txt", gzip(plain));
  CHECK(read_bytes(directory / "plain.gz") == plain);
  CHECK(read_bytes(directory / "packed.txt") == plain);
}

TEST_CASE("a gzip file of several members is their concatenation") {
  CHECK(gunzip(gzip("one,") + gzip("") + gzip("two"), "f") == "one,two");
}

TEST_CASE("damaged gzip data") {
  const std::string packed = gzip("hello, hello, hello");
  SUBCASE("truncated anywhere") {
    for (std::size_t size = 2; size < packed.size(); ++size) {
      CAPTURE(size);
      CHECK(contains(message_of([&] { (void)gunzip(packed.substr(0, size), "f.gz"); }),
                     "f.gz: truncated gzip data"));
    }
  }
  SUBCASE("wrong checksum") {
    std::string bad = packed;
    bad[bad.size() - 8] = static_cast<char>(bad[bad.size() - 8] ^ 1);
    const std::string message = message_of([&] { (void)gunzip(bad, "f.gz"); });
    CHECK(contains(message, "f.gz: damaged gzip data"));
    CHECK(contains(message, "incorrect data check"));
  }
  SUBCASE("wrong length") {
    std::string bad = packed;
    bad[bad.size() - 1] = '\x7f';
    CHECK(contains(message_of([&] { (void)gunzip(bad, "f.gz"); }), "incorrect length check"));
  }
  SUBCASE("other bytes behind it") {
    const std::string message = message_of([&] { (void)gunzip(packed + "more", "f.gz"); });
    CHECK(message ==
          "f.gz: 4 bytes follow the end of the gzip data at byte " + std::to_string(packed.size()));
  }
  SUBCASE("half a second member") {
    CHECK(contains(message_of([&] { (void)gunzip(packed + packed.substr(0, 5), "f.gz"); }),
                   "truncated gzip data"));
  }
}

TEST_CASE("a file may not unpack to more than it is allowed to") {
  const std::string packed = gzip(std::string(1'000'000, '\0'));
  REQUIRE(packed.size() < 2'000);
  CHECK(gunzip(packed, "bomb.gz", 1'000'000).size() == 1'000'000);
  CHECK(
      message_of([&] { (void)gunzip(packed, "bomb.gz", 999'999); }) ==
      "bomb.gz: its " + std::to_string(packed.size()) +
          " bytes unpack to more than the 999999 bytes allowed; if they are meant to, unpack the file first");
}

TEST_CASE("files that cannot be read say why") {
  const test::TemporaryDirectory directory;
  const std::string missing = directory / "missing.csv";
  CHECK(message_of([&] { (void)read_bytes(missing); }) == missing + ": no such file");
  const std::string here = directory.path().string();
  CHECK(message_of([&] { (void)read_bytes(here); }) == here + ": is a directory, expected a file");
  const std::string empty = directory / "empty";
  put_file(empty, "");
  CHECK(message_of([&] { (void)read_bytes(empty); }) == empty + ": is empty");
  const std::string packed_nothing = directory / "nothing.gz";
  put_file(packed_nothing, gzip(""));
  CHECK(message_of([&] { (void)read_bytes(packed_nothing); }) == packed_nothing + ": is empty once unpacked");
  const std::string below_a_file = empty + "/x";
  CHECK(contains(message_of([&] { (void)read_bytes(below_a_file); }), "cannot be opened: Not a directory"));
  if (::geteuid() != 0) {  // the superuser reads everything
    const std::string locked = directory / "locked";
    put_file(locked, "x");
    REQUIRE(::chmod(locked.c_str(), 0) == 0);
    CHECK(contains(message_of([&] { (void)read_bytes(locked); }), "cannot be opened: Permission denied"));
  }
}

TEST_CASE("pipes and devices without a size are read to their end") {
  CHECK(message_of([] { (void)read_bytes("/dev/null"); }) == "/dev/null: is empty");
}

}  // namespace
}  // namespace adbo::io
