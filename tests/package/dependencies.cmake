# SPDX-License-Identifier: Apache-2.0
# What tests, examples and benchmarks need and is not installed: its source is taken, or a sentence says what to do.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${WORK})
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DFP4_BUILD_VARIANTS=OFF -S ${FP4_SOURCE})
set(sources "")
foreach(name IN ITEMS Catch2 nlohmann_json benchmark)
  list(APPEND configure -DCMAKE_DISABLE_FIND_PACKAGE_${name}=ON)
  string(TOUPPER ${name} upper)
  list(APPEND sources -DFETCHCONTENT_SOURCE_DIR_${upper}=${CMAKE_CURRENT_LIST_DIR}/fetched/${name})
endforeach()

run(${configure} ${sources} -B ${WORK}/fetched)
foreach(name IN ITEMS Catch2 nlohmann_json benchmark)
  if(NOT output MATCHES "${name} is not installed, taking its source")
    message("${output}")
    message(FATAL_ERROR "the source of ${name} was not taken")
  endif()
endforeach()

foreach(user IN ITEMS tests benchmarks)
  set(only -DFP4_BUILD_TESTS=OFF -DFP4_BUILD_EXAMPLES=OFF -DFP4_BUILD_BENCHMARKS=OFF -DFP4_FETCH=OFF)
  string(TOUPPER ${user} upper)
  execute_process(
    COMMAND ${configure} ${only} -DFP4_BUILD_${upper}=ON -B ${WORK}/no_${user}
    RESULT_VARIABLE status ERROR_VARIABLE errors OUTPUT_QUIET)
  if(status EQUAL 0 OR NOT errors MATCHES "fp4: the ${user} need ")
    message("${errors}")
    message(FATAL_ERROR "${user} without their dependency were not reported")
  endif()
endforeach()
