# Off by default, and in the preset dev, which so keeps every file including what it uses; the sanitizers' presets,
# which compile the same files again, have it on.
option(ADBO_PRECOMPILED_HEADERS "Precompile the standard library's headers once per target" OFF)

# adbo_precompile(TARGET [headers of other libraries])
function(adbo_precompile target)
  if(ADBO_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <functional>
      <limits> <map> <memory> <numeric> <optional> <random> <span> <sstream> <stdexcept> <string> <string_view>
      <utility> <vector> ${ARGN})
  endif()
endfunction()
