// Separated values.
#include "fuzz_reader.h"
#include "io/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte says how the file is read.
  adbo::io::CsvOptions options;
  if ((data[0] & 1) != 0) options.id_column = "1";
  if ((data[0] & 2) != 0) options.label_column = "none";
  if ((data[0] & 4) != 0) options.header = adbo::io::HeaderMode::kPresent;
  if ((data[0] & 8) != 0) options.header = adbo::io::HeaderMode::kAbsent;
  return adbo::fuzz::attempt(data + 1, size - 1, [&options](std::string_view bytes) {
    adbo::fuzz::require_usable(adbo::io::parse_csv(bytes, "f", options));
  });
}
