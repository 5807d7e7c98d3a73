# SPDX-License-Identifier: Apache-2.0
# Compiles the two translation units of consumer/ with -I and their own flags, links and runs them.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
separate_arguments(main_flags UNIX_COMMAND "${MAIN_FLAGS}")
separate_arguments(other_flags UNIX_COMMAND "${OTHER_FLAGS}")
set(compile ${COMPILER} -std=c++17 -I${FP4_SOURCE}/include -c)
run(${compile} ${main_flags} ${CMAKE_CURRENT_LIST_DIR}/consumer/main.cpp -o ${WORK}/main.o)
run(${compile} ${other_flags} ${CMAKE_CURRENT_LIST_DIR}/consumer/other.cpp -o ${WORK}/other.o)
# Both orders: which definition of an inline function stays must not matter.
foreach(objects IN ITEMS main.o|other.o other.o|main.o)
  string(REPLACE "|" ";" objects "${objects}")
  list(TRANSFORM objects PREPEND ${WORK}/)
  run(${COMPILER} ${other_flags} ${objects} -o ${WORK}/consumer)
  run(${WORK}/consumer)
endforeach()
message("${output}")
