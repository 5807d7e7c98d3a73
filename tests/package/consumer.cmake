# SPDX-License-Identifier: Apache-2.0
# Configures, builds and runs consumer/ with the library taken by HOW: find_package, add_subdirectory or fetch_content.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${WORK})
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER})

set(arguments -DHOW=${HOW} -DFP4_SOURCE=${FP4_SOURCE})
if(HOW STREQUAL "find_package")
  run(${configure} -S ${FP4_SOURCE} -B ${WORK}/fp4 --install-prefix ${WORK}/prefix
      -DFP4_BUILD_TESTS=OFF -DFP4_BUILD_EXAMPLES=OFF -DFP4_BUILD_BENCHMARKS=OFF)
  run(${CMAKE_COMMAND} --install ${WORK}/fp4)
  file(GLOB_RECURSE headers RELATIVE ${FP4_SOURCE} ${FP4_SOURCE}/include/*)
  file(GLOB_RECURSE installed RELATIVE ${WORK}/prefix ${WORK}/prefix/include/*)
  if(NOT headers STREQUAL installed)
    message(FATAL_ERROR "installed headers differ from those of the project:\n${headers}\n${installed}")
  endif()
  # The headers must come from where they were installed, even after that place was moved.
  file(RENAME ${WORK}/prefix ${WORK}/moved)
  set(arguments -DHOW=${HOW} -DCMAKE_PREFIX_PATH=${WORK}/moved)
elseif(HOW STREQUAL "fetch_content")
  list(APPEND arguments -DFETCHCONTENT_SOURCE_DIR_FP4=${FP4_SOURCE} -DFETCHCONTENT_FULLY_DISCONNECTED=ON)
endif()

run(${configure} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/consumer ${arguments})
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/consumer)
message("${output}")
