#include "io/npz.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "io/array_view.h"
#include "io/error.h"
#include "io/text.h"

namespace adbo::io::detail {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::array<std::string_view, 4> kFeatureWords = {"x", "data", "images", "features"};
constexpr std::array<std::string_view, 5> kLabelWords = {"y", "label", "labels", "target", "targets"};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string_view array_name(const ZipMember& member) {
  std::string_view name = member.name;
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  return name;
}

/// "x_train": "x" and "_train".
std::pair<std::string, std::string> word_and_ending(std::string_view name) {
  const std::size_t cut = std::min(name.find_first_of("_-"), name.size());
  return {lower_case(name.substr(0, cut)), lower_case(name.substr(cut))};
}

bool has_role(std::string_view name, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word_and_ending(name).first) != words.end();
}

}  // namespace

NpzArchive::NpzArchive(std::string_view bytes, const std::string& source, std::uint64_t max_unpacked_bytes)
    : bytes_(bytes), source_(source), max_unpacked_bytes_(max_unpacked_bytes) {
  std::vector<ZipMember> members = list_zip(bytes, source);
  for (const ZipMember& member : members) {
    if (member.name.ends_with(kSuffix)) arrays_.push_back(member);
  }
  if (arrays_.empty()) {
    Members found;
    for (const ZipMember& member : members) found.push_back(&member);
    throw InputError(source,
                     fmt::format("a zip archive without arrays (NPZ holds members NAME.npy; here: {}); "
                                 "unpack it and give the file inside",
                                 names(found)));
  }
  const auto holds = [this](std::string_view name) {
    return std::any_of(arrays_.begin(), arrays_.end(),
                       [name](const ZipMember& member) { return array_name(member) == name; });
  };
  if (holds("indptr") && holds("indices")) {
    throw InputError(source,
                     "holds a sparse matrix of SciPy; save it as LIBSVM "
                     "(sklearn.datasets.dump_svmlight_file)");
  }
}

NpzArray NpzArchive::features(const std::string& name) const {
  if (!name.empty()) return by_name(name);
  Members candidates;
  for (const ZipMember& member : arrays_) {
    if (has_role(array_name(member), kFeatureWords)) candidates.push_back(&member);
  }
  return only(candidates.empty() ? all() : candidates, "features");
}

NpzArray NpzArchive::labels(const std::string& name) const {
  if (!name.empty()) return by_name(name);
  Members candidates;
  for (const ZipMember& member : arrays_) {
    if (has_role(array_name(member), kLabelWords)) candidates.push_back(&member);
  }
  return only(candidates.empty() ? all() : candidates, "labels");
}

std::optional<NpzArray> NpzArchive::labels_beside(const std::string& features) const {
  const std::string ending = word_and_ending(features).second;
  Members candidates;
  for (const ZipMember& member : arrays_) {
    const std::string_view name = array_name(member);
    if (has_role(name, kLabelWords) && word_and_ending(name).second == ending) candidates.push_back(&member);
  }
  if (candidates.empty()) return std::nullopt;
  return only(candidates, "labels");
}

NpzArray NpzArchive::unpack(const ZipMember& member) const {
  NpzArray array;
  array.name = array_name(member);
  array.source = fmt::format("{}:{}", source_, array.name);
  array.bytes = unpack_member(bytes_, member, array.source, max_unpacked_bytes_);
  return array;
}

NpzArray NpzArchive::by_name(const std::string& name) const {
  Members candidates;
  for (const ZipMember& member : arrays_) {
    if (array_name(member) == name || member.name == name) candidates.push_back(&member);
  }
  if (candidates.size() == 1) return unpack(*candidates.front());
  throw InputError(source_, fmt::format("holds {} called {}; its arrays: {}",
                                        candidates.empty() ? "no array" : "several arrays", in_quotes(name),
                                        names(all())));
}

NpzArray NpzArchive::only(const Members& candidates, const char* role) const {
  if (candidates.size() == 1) return unpack(*candidates.front());
  throw InputError(source_, fmt::format("which of its arrays holds the {}? Name one of them as {}:NAME; its "
                                        "arrays: {}",
                                        role, source_, names(all())));
}

std::string NpzArchive::names(const Members& members) const {
  constexpr std::size_t kMostNames = 20;
  if (members.empty()) return "none";
  std::string list;
  for (std::size_t k = 0; k < std::min(members.size(), kMostNames); ++k) {
    list += (k == 0 ? "" : ", ") + in_quotes(array_name(*members[k]));
  }
  return list + (members.size() > kMostNames ? ", ..." : "");
}

NpzArchive::Members NpzArchive::all() const {
  Members members;
  for (const ZipMember& member : arrays_) members.push_back(&member);
  return members;
}

}  // namespace adbo::io::detail
