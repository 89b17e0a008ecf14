#include "settings/config_file.h"

#include <fmt/format.h>

// toml++ 3.3 takes some input for granted: it asserts, or without assertions goes on with undefined
// behaviour, where it meets other bytes. With NDEBUG out of the way every such place throws instead.
namespace adbo::app {
namespace {
struct MalformedToml {};
[[noreturn]] void refuse_malformed() { throw MalformedToml(); }
}  // namespace
}  // namespace adbo::app
#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? static_cast<void>(0) : adbo::app::refuse_malformed())
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "adbo/method_table.h"
#include "io/text.h"
#include "support/exit_code.h"

namespace adbo::app {
namespace {

std::string place_of(const std::string& source, const toml::source_region& region) {
  return fmt::format("{}:{}:{}", source, region.begin.line, region.begin.column);
}

/// What a line `key = value` holds, as far as messages repeat it: short, and of printable characters alone.
struct Line {
  std::string_view key, value;
};

std::string_view if_printable(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  const bool is_plain = text.size() <= kLongest &&
                        std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return is_plain ? text : std::string_view();
}

/// `row` is where the line begins.
Line line_at(std::string_view text, std::size_t row) {
  const std::string_view line = text.substr(row, text.find('\n', row) - row);
  const std::size_t sign = line.find('=');
  if (sign == line.npos) return {};
  const std::string_view value = line.substr(sign + 1);
  return {if_printable(io::detail::trimmed(line.substr(0, sign))),
          if_printable(io::detail::trimmed(value.substr(0, value.find('#'))))};
}

/// `number` counts from 1.
Line numbered_line(std::string_view text, std::size_t number) {
  std::size_t row = 0;
  while (--number > 0 && row < text.size()) row = std::min(text.find('\n', row), text.size() - 1) + 1;
  return line_at(text, row);
}

std::string prefix_of(const Line& line) {
  return line.key.empty() ? std::string() : fmt::format("{}: ", line.key);
}

/// Whether it can stand behind a `=`.
bool is_value(std::string_view text) {
  try {
    static_cast<void>(toml::parse(fmt::format("a = {}\n", text)));
    return true;
  } catch (const toml::parse_error&) {
  } catch (const MalformedToml&) {
  }
  return false;
}

/// What the parser has to say names no setting, nor what a text without quotes lacks. Every value may stand
/// in quotes, a number beyond TOML's 63 bits too.
std::string sentence_of(const toml::parse_error& error, std::string_view text) {
  const Line line = numbered_line(text, error.source().begin.line);
  std::string sentence = fmt::format("{}{}", prefix_of(line), error.description());
  const bool can_be_quoted =
      !line.value.empty() && !is_value(line.value) && line.value.find_first_of("\"'\\") == line.value.npos;
  if (can_be_quoted) sentence += fmt::format("; in quotes it can be read: {} = \"{}\"", line.key, line.value);
  return sentence;
}

std::string text_of(const toml::node& node, std::string_view key, const std::string& place) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  throw UsageError(fmt::format("{}: {}: expected a number, a text, true or false", place, key));
}

/// Tables only group settings: one that is called as a method would be read as that method's alone.
void refuse_method_table(std::string_view name, const std::string& place) {
  const auto methods = method_table();
  if (std::none_of(methods.begin(), methods.end(),
                   [name](const MethodInfo& info) { return info.name == name; })) {
    return;
  }
  throw UsageError(fmt::format(
      "{}: [{}]: a table's name only groups settings; options of one method of a comparison are given as "
      "--set {}.option=value",
      place, name, name));
}

/// No setting has a place for it, and messages would end there.
void refuse_null(const Assignment& given) {
  if ((given.name + given.value).find('\0') == std::string::npos) return;
  throw UsageError(fmt::format("{}: {}: holds a null character (\\u0000)", given.place,
                               given.name.substr(0, given.name.find('\0'))));
}

void collect(const toml::table& table, const std::string& source, bool top, std::vector<Assignment>& result) {
  for (const auto& [key, node] : table) {
    const std::string place = place_of(source, key.source());
    if (const auto* inner = node.as_table()) {
      if (!top)
        throw UsageError(fmt::format("{}: {}: tables within tables are not used here", place, key.str()));
      refuse_method_table(key.str(), place);
      collect(*inner, source, false, result);
    } else {
      result.push_back({std::string(key.str()), text_of(node, key.str(), place), place});
      refuse_null(result.back());
    }
  }
}

/// Refuses what settings have no use for and what toml++ 3.3 meets with undefined behaviour, which is any
/// character beyond ASCII where it looks for the end of a number or for blanks. What is left is lines of
/// `key = value` and `[name]`, in which strings stand where one can begin, and only they go beyond ASCII.
class Precheck {
 public:
  Precheck(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  void run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        check_string();
        skip_string(c);
        last_ = c;
      } else {
        check(c);
        note(c);
        ++at_;
      }
    }
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  /// Between the backslash that breaks a line and where the string goes on.
  static bool is_skipped(char c) { return is_blank(c) || (c >= '\n' && c <= '\r'); }

  void check(char c) const {
    if (c != '\n' && !is_blank(c) && (c < ' ' || c > '~')) {
      refuse(fmt::format("the byte 0x{:02x} has no place outside of strings and comments",
                         static_cast<unsigned char>(c)));
    }
    if (c == '{' || c == '}' || (in_value_ && (c == '[' || c == ']' || c == ','))) {
      refuse(
          "a setting is a number, a text, true or false; several numbers are a text, as in bounds = "
          "\"-12,12\", and a "
          "table is a line of its own, [name]");
    }
    // Tables within tables within tables ...: toml++ follows them to the end of the stack.
    constexpr int kMostDots = 8;
    if (dots_ > kMostDots) refuse("tables within tables are not used here");
    if (c == '=' && in_value_) refuse("a second = in one line");
  }

  /// Where in a line the next character will be.
  void note(char c) {
    if (c == '\n' || c == '=') {
      in_value_ = c == '=';
      dots_ = 0;
    }
    if (c == '.' && !in_value_) ++dots_;
    if (!is_blank(c)) last_ = c;
  }

  /// A string is a part of a key, or a value from its first character on.
  void check_string() const {
    const std::string_view before = in_value_ ? "=" : "\n[.";
    if (before.find(last_) == before.npos) refuse("no string can begin here");
  }

  /// Past a backslash and what it is for. Where it breaks a line of a long string toml++ takes what follows
  /// the blanks for one of some blanks, with undefined behaviour for others.
  void skip_escape(bool is_long) {
    ++at_;
    if (at_ >= text_.size()) return;
    if (static_cast<unsigned char>(text_[at_]) > '~')
      refuse("a backslash before a character that is not ASCII");
    if (!is_long || !is_skipped(text_[at_])) {
      ++at_;
      return;
    }
    while (at_ < text_.size() && is_skipped(text_[at_])) ++at_;
    if (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) > '~') {
      refuse("a line that a backslash breaks goes on with a character that is not ASCII");
    }
  }

  /// Past the end of the string that begins here, or of the text: toml++ says what is wrong with it.
  void skip_string(char quote) {
    const std::string triple(3, quote);
    const bool is_long = text_.substr(at_).starts_with(triple);
    const std::string_view end = is_long ? std::string_view(triple) : std::string_view(&triple[0], 1);
    at_ += end.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(end)) {
      if (!is_long && text_[at_] == '\n') return;
      if (text_[at_] == '\\' && quote == '"') {
        skip_escape(is_long);
      } else {
        ++at_;
      }
    }
    at_ = std::min(at_ + end.size(), text_.size());
  }

  [[noreturn]] void refuse(const std::string& what) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t row = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    throw UsageError(
        fmt::format("{}:{}:{}: {}{}", source_, line, at_ - row + 1, prefix_of(line_at(text_, row)), what));
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  char last_ = '\n';       ///< the last byte that is neither blank nor of a string or comment
  int dots_ = 0;           ///< in the key of a line
  bool in_value_ = false;  ///< behind the = of a line
};

bool is_malformed(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
  } catch (const MalformedToml&) {
    return true;
  } catch (const toml::parse_error&) {
  }
  return false;
}

/// The number of the line that makes `text` malformed: the parser ends there, so that a beginning is
/// malformed if and only if the line is in it.
std::size_t malformed_line(std::string_view text) {
  std::vector<std::size_t> ends;  // of the lines
  for (std::size_t at = 0; at < text.size(); at = ends.back()) {
    ends.push_back(std::min(text.find('\n', at), text.size() - 1) + 1);
  }
  const auto found = std::partition_point(
      ends.begin(), ends.end(), [text](std::size_t end) { return !is_malformed(text.substr(0, end)); });
  return static_cast<std::size_t>(found - ends.begin()) + 1;
}

}  // namespace

std::vector<Assignment> parse_config(std::string_view text, const std::string& source) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  Precheck(text, source).run();
  std::vector<Assignment> result;
  try {
    collect(toml::parse(text, source), source, true, result);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}: {}", place_of(source, error.source()), sentence_of(error, text)));
  } catch (const MalformedToml&) {
    throw UsageError(fmt::format("{}:{}: this line is no TOML", source, malformed_line(text)));
  }
  return result;
}

std::vector<Assignment> read_config_file(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{4} << 20;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw UsageError(fmt::format("{}: is a folder, not a configuration file", path));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || !file.is_open())
    throw UsageError(fmt::format("{}: the configuration file cannot be read", path));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostBytes) {
    throw UsageError(
        fmt::format("{}: has more than {} bytes, which no configuration file needs", path, kMostBytes));
  }
  return parse_config(text, path);
}

}  // namespace adbo::app
