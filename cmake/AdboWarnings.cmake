# adbo_warnings: the warnings that every target of this project is compiled with.
add_library(adbo_warnings INTERFACE)
target_compile_options(adbo_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Wcast-align -Woverloaded-virtual -Wnull-dereference -Wdouble-promotion -Wformat=2)
if(ADBO_WERROR)
  target_compile_options(adbo_warnings INTERFACE -Werror)
endif()
