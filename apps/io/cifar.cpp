#include "io/cifar.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/byte_source.h"
#include "io/digest.h"
#include "io/element.h"
#include "io/error.h"
#include "io/labels.h"

namespace adbo::io {
namespace {

constexpr std::size_t kSide = 32;
constexpr std::size_t kChannels = 3;
constexpr std::size_t kPixelBytes = kSide * kSide * kChannels;

struct Layout {
  const char* format;
  std::vector<unsigned> classes;  // number of values of each label byte; the last one is the class

  [[nodiscard]] std::size_t record_bytes() const { return classes.size() + kPixelBytes; }
};

const Layout& cifar10() {
  static const Layout layout{"cifar10", {10}};
  return layout;
}

const Layout& cifar100() {
  static const Layout layout{"cifar100", {20, 100}};
  return layout;
}

unsigned byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

/// Text has none of the control characters that any picture has.
bool has_control_characters(std::string_view bytes) {
  return std::any_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < '\t' || (byte > '\r' && byte < ' ');
  });
}

/// Why the bytes are no records of this layout; empty where they are.
std::string flaw_of(const Layout& layout, std::string_view bytes) {
  const std::size_t record = layout.record_bytes();
  if (bytes.empty() || bytes.size() % record != 0) {
    return fmt::format("expected records of {} bytes, found {} bytes: {} records and {} bytes more", record,
                       bytes.size(), bytes.size() / record, bytes.size() % record);
  }
  for (std::size_t r = 0; r < bytes.size() / record; ++r) {
    for (std::size_t k = 0; k < layout.classes.size(); ++k) {
      const unsigned label = byte_at(bytes, r * record + k);
      if (label < layout.classes[k]) continue;
      return fmt::format("record {} (counted from 1): expected a label from 0 to {}, found {}", r + 1,
                         layout.classes[k] - 1, label);
    }
  }
  return {};
}

bool looks_like(const Layout& layout, std::string_view bytes) {
  return flaw_of(layout, bytes).empty() && has_control_characters(bytes.substr(0, layout.record_bytes()));
}

Table parse(const Layout& layout, std::string_view bytes, const std::string& source) {
  const std::size_t record = layout.record_bytes();
  if (const std::string flaw = flaw_of(layout, bytes); !flaw.empty()) throw InputError(source, flaw);
  const std::size_t rows = bytes.size() / record;
  kernels::DenseRows dense(rows, kPixelBytes);
  detail::LabelTable classes;
  std::vector<std::int32_t> labels(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t pixels = r * record + layout.classes.size();
    labels[r] = classes.number_of(std::to_string(byte_at(bytes, pixels - 1)));
    detail::decode({detail::ElementKind::kUnsigned, 1, false}, bytes.data() + pixels, kPixelBytes,
                   dense.mutable_row(r));
  }
  Table table;
  table.format = layout.format;
  table.source = source;
  table.features = std::move(dense);
  table.image = ImageShape{kSide, kSide, kChannels, PixelOrder::kPlanar};
  set_labels(table, classes, std::move(labels));
  table.digest = Digest().update(bytes).text();
  return table;
}

}  // namespace

Table read_cifar10(const std::string& path) { return parse_cifar10(read_bytes(path), path); }
Table read_cifar100(const std::string& path) { return parse_cifar100(read_bytes(path), path); }

Table parse_cifar10(std::string_view bytes, const std::string& source) {
  return parse(cifar10(), bytes, source);
}
Table parse_cifar100(std::string_view bytes, const std::string& source) {
  return parse(cifar100(), bytes, source);
}

bool looks_like_cifar10(std::string_view bytes) { return looks_like(cifar10(), bytes); }
bool looks_like_cifar100(std::string_view bytes) { return looks_like(cifar100(), bytes); }

std::string why_not_cifar(std::string_view bytes) {
  const std::string ten = flaw_of(cifar10(), bytes), hundred = flaw_of(cifar100(), bytes);
  // Without a flaw it is text for all that can be told.
  if (bytes.size() < kPixelBytes || ten.empty() || hundred.empty()) return {};
  return fmt::format("it is no CIFAR-10 binary ({}) and no CIFAR-100 binary ({})", ten, hundred);
}

}  // namespace adbo::io
