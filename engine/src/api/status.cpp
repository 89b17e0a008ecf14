#include "adbo/status.h"

namespace adbo {

std::string_view to_string(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalidOption:
      return "invalid option";
    case StatusCode::kInvalidProblem:
      return "invalid problem";
    case StatusCode::kInvalidCheckpoint:
      return "invalid checkpoint";
    case StatusCode::kInternal:
      return "internal error";
  }
  return "unknown";
}

}  // namespace adbo
