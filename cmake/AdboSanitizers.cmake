# ADBO_SANITIZE instruments the whole build; a half-instrumented program reports races that are none.
if(ADBO_SANITIZE)
  add_compile_options(-fsanitize=${ADBO_SANITIZE} -fno-omit-frame-pointer)
  if(ADBO_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  add_link_options(-fsanitize=${ADBO_SANITIZE})
endif()

# adbo_optimize_sanitized(TARGET): the preset of the address sanitizer compiles without optimization, which takes two
# thirds of the time; what its tests and fuzz targets spend their time in would run for many times as long.
function(adbo_optimize_sanitized target)
  if(ADBO_SANITIZE MATCHES "address")
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()
