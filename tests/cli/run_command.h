#pragma once
// Runs the built command on small generated files, as a user would.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace adbo::test {

struct Outcome {
  int code = -1;  ///< exit code, or 128 + signal
  std::string out, err;
};

/// A folder of its own that goes away with the object.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  [[nodiscard]] std::string path(std::string_view name) const { return (folder_ / name).string(); }
  [[nodiscard]] bool exists(std::string_view name) const { return std::filesystem::exists(folder_ / name); }
  [[nodiscard]] std::string read(std::string_view name) const;
  std::string write(std::string_view name, std::string_view bytes) const;

  /// Runs the command in this folder and waits for it.
  [[nodiscard]] Outcome run(const std::vector<std::string>& arguments) const;
  /// The same, but sends `signal` once the file `when` has more than `lines` lines, so many times, with a
  /// pause in between that makes them several.
  [[nodiscard]] Outcome run_and_signal(const std::vector<std::string>& arguments, int signal,
                                       std::string_view when, std::size_t lines, int times = 1) const;
  /// The same, but sends `signal` after so many seconds.
  [[nodiscard]] Outcome run_and_signal_after(const std::vector<std::string>& arguments, int signal,
                                             double seconds) const;

 private:
  [[nodiscard]] int start(const std::vector<std::string>& arguments) const;
  [[nodiscard]] Outcome finish(int process) const;

  std::filesystem::path folder_;
};

/// `rows` LIBSVM rows of two well separated classes (labels -1 and 1) and `columns` columns. Each column is
/// `decades` / columns decades smaller than the one before: without scaling, fits then take long.
[[nodiscard]] std::string libsvm_rows(int rows, int columns, unsigned seed, double decades = 0);
/// IDX pictures of 4 x 4 bytes and their labels 0..2; class c is bright in row c of the picture.
[[nodiscard]] std::string idx_images(int rows, unsigned seed);
[[nodiscard]] std::string idx_labels(int rows);

[[nodiscard]] std::size_t line_count(std::string_view text);

[[nodiscard]] inline bool contains(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

/// One list of arguments after the other.
[[nodiscard]] inline std::vector<std::string> operator+(std::vector<std::string> first,
                                                        const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace adbo::test
