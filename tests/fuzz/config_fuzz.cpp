// Configuration files, and every value that one may hold.
#include <cstdint>
#include <string_view>

#include "fuzz_reader.h"
#include "settings/config_file.h"
#include "settings/effects.h"
#include "settings/settings.h"
#include "support/exit_code.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    adbo::app::SettingSources sources;
    sources.file = adbo::app::parse_config({reinterpret_cast<const char*>(data), size}, "f");
    const adbo::app::Settings settings = adbo::app::resolve_settings({}, sources);
    adbo::app::refuse_settings_without_effect(settings);
  } catch (const adbo::app::UsageError& error) {
    if (std::string_view(error.what()).empty()) adbo::fuzz::fail("a refusal without a word");
  }
  return 0;
}
