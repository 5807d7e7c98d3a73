# SPDX-License-Identifier: Apache-2.0
# sources: every C++ and CUDA file of the project.
set(sources "")
foreach(folder IN ITEMS include tests examples bench)
  foreach(ending IN ITEMS hpp cpp cuh cu)
    file(GLOB_RECURSE found ${FP4_SOURCE}/${folder}/*.${ending})
    list(APPEND sources ${found})
  endforeach()
endforeach()
if(NOT sources)
  message(FATAL_ERROR "no source under ${FP4_SOURCE}")
endif()
