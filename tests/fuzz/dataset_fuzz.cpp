// Any file: its format is found by its content, packed or not.
#include "fuzz_reader.h"
#include "io/dataset.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return adbo::fuzz::attempt(data, size, [](std::string_view bytes) {
    adbo::io::DatasetRequest request;
    request.path = "f";
    request.max_unpacked_bytes = 1'000'000;
    adbo::fuzz::require_usable(adbo::io::parse_dataset(request, bytes));
  });
}
