// LIBSVM text.
#include "fuzz_reader.h"
#include "io/libsvm.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return adbo::fuzz::attempt(data, size, [](std::string_view bytes) {
    adbo::fuzz::require_usable(adbo::io::parse_libsvm(bytes, "f"));
  });
}
