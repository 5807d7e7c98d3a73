# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/sources.cmake)
execute_process(COMMAND ${TOOL} --dry-run -Werror ${sources} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "not formatted; ${TOOL} -i <file> mends it")
endif()
