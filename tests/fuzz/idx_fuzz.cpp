// IDX pictures and labels.
#include "fuzz_reader.h"
#include "io/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return adbo::fuzz::attempt(data, size, [](std::string_view bytes) {
    // As images alone, then split into images and labels.
    try {
      adbo::fuzz::require_usable(adbo::io::parse_idx(bytes, "f"));
    } catch (const adbo::io::InputError&) {
    }
    const std::size_t middle = bytes.size() / 2;
    adbo::fuzz::require_usable(adbo::io::parse_idx(bytes.substr(0, middle), "f", bytes.substr(middle), "fl"));
  });
}
