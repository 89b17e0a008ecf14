# ADBO_SANITIZE instruments the whole build; a half-instrumented program reports races that are none.
if(ADBO_SANITIZE)
  add_compile_options(-fsanitize=${ADBO_SANITIZE} -fno-omit-frame-pointer)
  if(ADBO_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  add_link_options(-fsanitize=${ADBO_SANITIZE})
endif()
