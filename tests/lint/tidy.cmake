# SPDX-License-Identifier: Apache-2.0
# The examples use the library the way a user does, so they instantiate what .clang-tidy should see.
file(GLOB sources ${FP4_SOURCE}/examples/*.cpp)
execute_process(
  COMMAND ${TOOL} --quiet ${sources} -- -std=c++17 -I${FP4_SOURCE}/include
  RESULT_VARIABLE status ERROR_QUIET)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "clang-tidy found something")
endif()
