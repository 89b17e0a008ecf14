# adbo_warnings: the warnings that every target of this project is compiled with.
add_library(adbo_warnings INTERFACE)
target_compile_options(adbo_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Wcast-align -Woverloaded-virtual -Wdouble-promotion -Wformat=2)
# GCC 12 reports overlapping copies inside its own std::string at -O3 (its bug 105651).
target_compile_options(adbo_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(ADBO_WERROR)
  target_compile_options(adbo_warnings INTERFACE -Werror)
endif()
