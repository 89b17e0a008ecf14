# The embedding example that the README shows is, to the letter, the one that the build compiles.
cmake_minimum_required(VERSION 3.25)
file(READ ${ROOT}/README.md readme)
file(READ ${ROOT}/apps/examples/embed_quadratic.cpp example)
string(FIND "${readme}" "${example}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "README.md does not contain apps/examples/embed_quadratic.cpp as it is")
endif()
