#pragma once
// What the fuzz targets of the readers share.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/error.h"
#include "io/table_fault.h"

namespace adbo::fuzz {

/// Ends the process: the fuzzer keeps the bytes that led here.
[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "fault: %s\n", what.c_str());
  std::abort();
}

inline void require_usable(const io::Table& table) {
  if (const std::string fault = io::test::table_fault(table); !fault.empty()) fail(fault);
}

/// Whatever the bytes are, `read` gives something usable or throws an InputError with words in it.
template <class Read>
int attempt(const std::uint8_t* data, std::size_t size, const Read& read) {
  try {
    read(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const io::InputError& error) {
    if (error.detail().empty()) fail("a refusal without a word");
  }
  return 0;
}

}  // namespace adbo::fuzz
