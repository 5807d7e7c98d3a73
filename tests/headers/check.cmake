# SPDX-License-Identifier: Apache-2.0
# cmake -DCOMPILER=... -DFLAGS="..." -DINCLUDE_DIR=... -P check.cmake
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
file(GLOB_RECURSE headers RELATIVE ${INCLUDE_DIR} ${INCLUDE_DIR}/fp4/*.hpp)
if(NOT headers)
  message(FATAL_ERROR "no header under ${INCLUDE_DIR}")
endif()
foreach(header IN LISTS headers)
  execute_process(
    COMMAND ${COMPILER} ${flags} -fsyntax-only -I${INCLUDE_DIR} -include ${header} -include ${header} -x c++ /dev/null
    RESULT_VARIABLE status ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message("${errors}")
    message(SEND_ERROR "${header} does not compile alone and twice")
  endif()
endforeach()
list(LENGTH headers count)
message(STATUS "${count} headers with ${COMPILER} ${FLAGS}")
