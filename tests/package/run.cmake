# SPDX-License-Identifier: Apache-2.0
# run(<command>...): stops with the command's output unless it succeeds; leaves the output in `output`.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message("${command}\n${output}")
    message(FATAL_ERROR "a command failed")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
