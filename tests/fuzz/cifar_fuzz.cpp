// CIFAR records.
#include "fuzz_reader.h"
#include "io/cifar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return adbo::fuzz::attempt(data, size, [](std::string_view bytes) {
    if (adbo::io::looks_like_cifar10(bytes)) {
      adbo::fuzz::require_usable(adbo::io::parse_cifar10(bytes, "f"));
    }
    if (adbo::io::looks_like_cifar100(bytes)) {
      adbo::fuzz::require_usable(adbo::io::parse_cifar100(bytes, "f"));
    }
    adbo::fuzz::require_usable(adbo::io::parse_cifar10(bytes, "f"));
  });
}
