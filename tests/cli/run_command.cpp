#include "run_command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace adbo::test {
namespace {

namespace fs = std::filesystem;

fs::path fresh_folder() {
  static int count = 0;
  const fs::path folder = fs::temp_directory_path() /
                          ("adbo_command_test-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
  fs::create_directories(folder);
  return folder;
}

void redirect(const fs::path& file, int descriptor) {
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (opened < 0 || ::dup2(opened, descriptor) < 0) ::_exit(126);
}

double uniform(std::mt19937_64& generator) { return static_cast<double>(generator() >> 11) * 0x1.0p-53; }

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xFF);
  return bytes;
}

}  // namespace

Workspace::Workspace() : folder_(fresh_folder()) {}

Workspace::~Workspace() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string Workspace::read(std::string_view name) const {
  std::ifstream file(folder_ / name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Workspace::write(std::string_view name, std::string_view bytes) const {
  std::ofstream(folder_ / name, std::ios::binary) << bytes;
  return path(name);
}

int Workspace::start(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words{ADBO_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t process = ::fork();
  if (process < 0) throw std::runtime_error("fork failed");
  if (process == 0) {
    if (::chdir(folder_.c_str()) != 0) ::_exit(126);
    redirect(folder_ / "stdout", STDOUT_FILENO);
    redirect(folder_ / "stderr", STDERR_FILENO);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  return process;
}

Outcome Workspace::finish(int process) const {
  int status = 0;
  ::waitpid(process, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, read("stdout"), read("stderr")};
}

Outcome Workspace::run(const std::vector<std::string>& arguments) const { return finish(start(arguments)); }

Outcome Workspace::run_and_signal(const std::vector<std::string>& arguments, int signal,
                                  std::string_view when, std::size_t lines, int times) const {
  const int process = start(arguments);
  while (line_count(read(when)) <= lines && ::kill(process, 0) == 0) {
    int status = 0;
    if (::waitpid(process, &status, WNOHANG) == process)
      throw std::runtime_error("ended before the signal: " + read("stderr"));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ::kill(process, signal);
  while (--times > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::kill(process, signal);
  }
  return finish(process);
}

Outcome Workspace::run_and_signal_after(const std::vector<std::string>& arguments, int signal,
                                        double seconds) const {
  const int process = start(arguments);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  ::kill(process, signal);  // a process that has ended is still there to be waited for
  return finish(process);
}

std::string libsvm_rows(int rows, int columns, unsigned seed, double decades) {
  std::mt19937_64 generator(seed);
  std::ostringstream text;
  for (int r = 0; r < rows; ++r) {
    const int label = r % 2 == 0 ? 1 : -1;
    text << label;
    for (int c = 1; c <= columns; ++c) {
      const double value = 2 * uniform(generator) - 1 + (c <= 2 ? 0.8 * label : 0.0);
      text << ' ' << c << ':' << value * std::pow(10, -decades * (c - 1) / columns);
    }
    text << '\n';
  }
  return text.str();
}

std::string idx_images(int rows, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::string bytes =
      big_endian(0x0803) + big_endian(static_cast<std::uint32_t>(rows)) + big_endian(4) + big_endian(4);
  for (int r = 0; r < rows; ++r) {
    for (int pixel = 0; pixel < 16; ++pixel) {
      const bool bright = pixel / 4 == r % 3;
      bytes += static_cast<char>(static_cast<unsigned char>((bright ? 155 : 0) + 100 * uniform(generator)));
    }
  }
  return bytes;
}

std::string idx_labels(int rows) {
  std::string bytes = big_endian(0x0801) + big_endian(static_cast<std::uint32_t>(rows));
  for (int r = 0; r < rows; ++r) bytes += static_cast<char>(r % 3);
  return bytes;
}

std::size_t line_count(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace adbo::test
