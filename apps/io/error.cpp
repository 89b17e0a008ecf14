#include "io/error.h"

#include <utility>

#include <fmt/format.h>

namespace adbo::io {

InputError::InputError(std::string file, std::string detail)
    : std::runtime_error(fmt::format("{}: {}", file, detail)),
      file_(std::move(file)),
      detail_(std::move(detail)) {}

InputError::InputError(std::string file, std::size_t line, std::size_t column, std::string token,
                       std::string detail)
    : std::runtime_error(fmt::format("{}:{}:{}: {}", file, line, column, detail)),
      file_(std::move(file)),
      token_(std::move(token)),
      detail_(std::move(detail)),
      line_(line),
      column_(column) {}

OutputError::OutputError(std::string file, const std::string& detail)
    : std::runtime_error(fmt::format("{}: {}", file, detail)), file_(std::move(file)) {}

}  // namespace adbo::io
