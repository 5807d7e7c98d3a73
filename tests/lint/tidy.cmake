# SPDX-License-Identifier: Apache-2.0
execute_process(
  COMMAND ${TOOL} --quiet ${SOURCE} -- -std=c++17 -I${FP4_SOURCE}/include RESULT_VARIABLE status ERROR_QUIET)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "clang-tidy found something")
endif()
