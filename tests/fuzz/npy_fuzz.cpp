// NumPy arrays.
#include "fuzz_reader.h"
#include "io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return adbo::fuzz::attempt(data, size, [](std::string_view bytes) {
    const adbo::io::NpyArray array = adbo::io::parse_npy(bytes, "f");
    std::size_t product = 1;
    for (const std::size_t length : array.shape) product *= length;
    if (product != array.values.size()) adbo::fuzz::fail("the shape is not that of the values");
    adbo::fuzz::require_usable(adbo::io::parse_npy_table(bytes, "f"));
  });
}
