// Whatever the bytes are, a reader returns a consistent table or throws an InputError: no other exception, no
// crash (the same tests run under the address and undefined-behaviour sanitizers).

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "io/cifar.h"
#include "io/csv.h"
#include "io/dataset.h"
#include "io/idx.h"
#include "io/libsvm.h"
#include "io/npy.h"
#include "io_support.h"
#include "support/zip_writer.h"
#include "table_fault.h"

namespace adbo::io {
namespace {

using test::be32;

const std::string kNul(1, '\0');
const std::string kIdxImages = kNul + kNul + "\x08\x03" + be32(3) + be32(2) + be32(2) + "abcdefghijkl";
const std::string kIdxFloats = kNul + kNul + "\x0e\x02" + be32(2) + be32(2) + std::string(32, '\x3f');
const std::string kIdxLabels = kNul + kNul + "\x08\x01" + be32(3) + "\x04\x02\x04";
const std::string kNpy = test::npy("<f4", "(2, 3)", std::string(24, '\x3f'));
const std::string kLibsvm = "+1 1:0.5 3:-2e-3 # note\r\n-1 qid:4 2:1 1:4\n\n+1\n-1 2:0 13:7.25 14:1\n";
const std::string kCsv = "id,\"x, 1\",y\nr1,0.5,\"a \"\"b\"\"\"\r\nr2,-1e3,c\n\nr3,7,\"two\nlines\"\n";
const std::string kTable = "a,\"b, c\",y\r\n1,0.5,\"say \"\"hi\"\"\"\n\n-2, 1e3 ,\"two\nlines\"\n";
const std::string kBlanks = "1 22.08 11.46 2 -1\n0 22.67 7  2 1 \n";
const std::string kCifar = "\x03" + std::string(3072, '\x01') + "\x09" + std::string(3072, '\x7f');

void check_consistent(const Table& table) { REQUIRE(test::table_fault(table) == ""); }

struct Outcomes {
  std::size_t read = 0, refused = 0;
};

/// Runs a reader on bytes that may be anything. The bytes are copied to a heap block of exactly their size,
/// so that the address sanitizer sees a read past the end.
void attempt(const std::function<void(std::string_view)>& read, const std::string& bytes,
             Outcomes& outcomes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  try {
    read({exact.data(), exact.size()});
    ++outcomes.read;
  } catch (const InputError& error) {
    REQUIRE(std::string(error.what()).starts_with("f"));
    REQUIRE_FALSE(error.detail().empty());
    ++outcomes.refused;
  }
}

struct Subject {
  std::string name;
  std::string bytes;
  std::function<void(std::string_view)> read;
};

std::vector<Subject> subjects() {
  const std::string archive = test::zip({{"x.npy", test::npy_bytes("(3, 2)", "abcdef"), 8},
                                         {"y.npy", test::npy_bytes("(3,)", "\x04\x02\x04"), 0}});
  const auto dataset = [](std::string_view bytes) {
    DatasetRequest request;
    request.path = "f";
    request.max_unpacked_bytes = 1'000'000;
    check_consistent(parse_dataset(request, bytes));
  };
  const auto labels = [](std::string_view bytes) {
    check_consistent(parse_idx(kIdxImages, "f", bytes, "fl"));
  };
  const auto any_labels = [](std::string_view bytes) {
    DatasetRequest request;
    request.path = "f";
    request.labels_path = "fl";
    request.max_unpacked_bytes = 1'000'000;
    check_consistent(parse_dataset(request, kIdxImages, bytes));
  };
  const auto idx = [](std::string_view bytes) { check_consistent(parse_idx(bytes, "f")); };
  const auto libsvm = [](std::string_view bytes) { check_consistent(parse_libsvm(bytes, "f")); };
  const auto csv = [](std::string_view bytes) { check_consistent(parse_csv(bytes, "f")); };
  const auto csv_with_ids = [](std::string_view bytes) {
    check_consistent(parse_csv(bytes, "f", {"y", "1", HeaderMode::kAuto}));
  };
  const auto npy = [](std::string_view bytes) {
    const NpyArray array = parse_npy(bytes, "f");
    std::size_t product = 1;
    for (const std::size_t size : array.shape) product *= size;
    REQUIRE(product == array.values.size());
  };
  const auto cifar = [](std::string_view bytes) { check_consistent(parse_cifar10(bytes, "f")); };
  return {{"idx", kIdxImages, idx},
          {"idx floats", kIdxFloats, idx},
          {"idx labels", kIdxLabels, labels},
          {"libsvm", kLibsvm, libsvm},
          {"csv", kTable, csv},
          {"csv with ids", kCsv, csv_with_ids},
          {"blanks", kBlanks, csv},
          {"npy", kNpy, npy},
          {"cifar10", kCifar, cifar},
          {"npz", archive, dataset},
          {"npz labels", archive, any_labels},
          {"any idx", kIdxImages, dataset},
          {"any npy", kNpy, dataset},
          {"any libsvm", kLibsvm, dataset},
          {"any csv", kBlanks, dataset},
          {"any cifar", kCifar, dataset},
          {"packed libsvm", test::gzip(kLibsvm), dataset},
          {"packed twice", test::gzip(kBlanks) + test::gzip(kBlanks), dataset},
          {"text labels", "a\nb\r\na\n", any_labels},
          {"packed labels", test::gzip(kIdxLabels), any_labels}};
}

TEST_CASE("every prefix of a good file is read or refused") {
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.name);
    Outcomes outcomes;
    for (std::size_t size = 0; size <= subject.bytes.size(); ++size) {
      attempt(subject.read, subject.bytes.substr(0, size), outcomes);
    }
    CHECK(outcomes.read > 0);  // the whole file at least
    CHECK(outcomes.refused > 0);
  }
}

TEST_CASE("binary and packed files are refused at every truncation") {
  for (const Subject& subject : subjects()) {
    const std::string& name = subject.name;
    if (name != "idx" && name != "idx floats" && name != "idx labels" && name != "npy" && name != "npz" &&
        name != "packed libsvm")
      continue;
    CAPTURE(name);
    Outcomes outcomes;
    for (std::size_t size = 0; size < subject.bytes.size(); ++size) {
      attempt(subject.read, subject.bytes.substr(0, size), outcomes);
    }
    CHECK(outcomes.read == 0);
    CHECK(outcomes.refused == subject.bytes.size());
  }
}

/// One to four random edits: a changed, inserted or removed byte, a copied or removed stretch.
std::string mutated(std::string bytes, std::mt19937_64& random) {
  constexpr std::string_view kTelling =
      "0129+-.eE:,;# \t\r\n\"'\0\xff"
      "naif{}()";
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  for (std::size_t edits = 1 + below(4); edits > 0 && !bytes.empty(); --edits) {
    const std::size_t at = below(bytes.size());
    const std::size_t length = 1 + below(8);
    const char byte = below(2) == 0 ? kTelling[below(kTelling.size())] : static_cast<char>(random());
    switch (below(5)) {
      case 0:
        bytes[at] = byte;
        break;
      case 1:
        bytes.insert(at, 1, byte);
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(below(bytes.size()), bytes.substr(at, length));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
    }
  }
  return bytes;
}

TEST_CASE("mutations of a good file are read or refused") {
  constexpr int kMutations = 4000;
  std::mt19937_64 random(20240229);
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.name);
    const int mutations = subject.bytes.size() > 1000 ? kMutations / 10 : kMutations;
    Outcomes outcomes;
    for (int k = 0; k < mutations; ++k) attempt(subject.read, mutated(subject.bytes, random), outcomes);
    CHECK(outcomes.refused > 0);
    CHECK(outcomes.read + outcomes.refused == static_cast<std::size_t>(mutations));
  }
}

TEST_CASE("random bytes are read or refused") {
  std::mt19937_64 random(7);
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.name);
    Outcomes outcomes;
    for (int k = 0; k < 500; ++k) {
      std::string bytes(random() % 64, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      attempt(subject.read, bytes, outcomes);
    }
    CHECK(outcomes.refused > 0);
  }
}

}  // namespace
}  // namespace adbo::io
