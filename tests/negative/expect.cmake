# cmake -D PROGRAM=... -D SCENARIO=... -D EXPECTATION=passes|races|loses_wake_up|aborts -P expect.cmake
# Runs the program and demands the very exit code of the expectation, so that a crash, a wrong result or a
# missing file is not taken for the failure that is wanted.
set(code_passes 0)
set(code_loses_wake_up 3)
set(code_aborts 4)
set(code_races 66)

set(ENV{TSAN_OPTIONS} "exitcode=66 halt_on_error=1")
execute_process(COMMAND "${PROGRAM}" "${SCENARIO}" RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT DEFINED code_${EXPECTATION})
  message(FATAL_ERROR "unknown expectation '${EXPECTATION}'")
endif()
if(NOT "${code}" STREQUAL "${code_${EXPECTATION}}")
  message(FATAL_ERROR "${SCENARIO}: expected exit code ${code_${EXPECTATION}} (${EXPECTATION}), got ${code}\n${output}")
endif()
if(EXPECTATION STREQUAL "races" AND NOT output MATCHES "WARNING: ThreadSanitizer: data race")
  message(FATAL_ERROR "${SCENARIO}: exit code 66, but no data race was reported\n${output}")
endif()
if(EXPECTATION STREQUAL "aborts" AND NOT output MATCHES "Assertion")
  message(FATAL_ERROR "${SCENARIO}: aborted, but not by an assertion\n${output}")
endif()
