# SPDX-License-Identifier: Apache-2.0
# The first C++ program of README.md is examples/round_trip.cpp, but for the licence line.
file(READ ${FP4_SOURCE}/README.md readme)
file(READ ${FP4_SOURCE}/examples/round_trip.cpp program)

string(FIND "${readme}" "```cpp\n" begin)
if(begin EQUAL -1)
  message(FATAL_ERROR "README.md has no ```cpp block")
endif()
math(EXPR begin "${begin} + 7")
string(SUBSTRING "${readme}" ${begin} -1 block)
string(FIND "${block}" "```\n" end)
if(end EQUAL -1)
  message(FATAL_ERROR "the first ```cpp block of README.md does not end")
endif()
string(SUBSTRING "${block}" 0 ${end} block)

set(licence "// SPDX-License-Identifier: Apache-2.0\n")
if(NOT "${licence}${block}" STREQUAL program)
  message(FATAL_ERROR "the first ```cpp block of README.md is not examples/round_trip.cpp:\n${block}")
endif()
