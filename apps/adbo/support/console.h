#pragma once

#include <iosfwd>
#include <string_view>

namespace adbo::app {

/// Where the command speaks: results go to `out` alone, everything else to `err`.
class Console {
 public:
  Console(std::ostream& out, std::ostream& err, bool err_is_terminal)
      : out_(out), err_(err), err_is_terminal_(err_is_terminal) {}

  void set_quiet(bool quiet) { quiet_ = quiet; }
  void set_verbose(bool verbose) { verbose_ = verbose; }
  void set_progress(bool progress) { progress_ = progress; }

  [[nodiscard]] std::ostream& err() const { return err_; }
  [[nodiscard]] bool err_is_terminal() const { return err_is_terminal_; }
  [[nodiscard]] bool quiet() const { return quiet_; }

  /// Results, on stdout. io::OutputError when it does not take them (full disk, closed pipe).
  void deliver(std::string_view text) const;
  /// Always: what the user has to know.
  void error(std::string_view message) const;
  /// Always: what was lost or damaged although the command goes on.
  void warning(std::string_view message) const;
  /// Unless --quiet.
  void note(std::string_view message) const;
  /// A sign of life, where progress is shown.
  void progress(std::string_view message) const;
  /// With -v.
  void detail(std::string_view message) const;

 private:
  void say(std::string_view kind, std::string_view message) const;

  std::ostream& out_;
  std::ostream& err_;
  bool err_is_terminal_;
  bool quiet_ = false;
  bool verbose_ = false;
  bool progress_ = true;
};

}  // namespace adbo::app
