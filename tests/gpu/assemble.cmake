# SPDX-License-Identifier: Apache-2.0
# cmake -DNVCC=... -DTARGETS="sm_120a sm_120f" -DSOURCE=... -DINCLUDES="..." -DOUTPUT=... [-DOPTIONS="..."]
#       [-DEXPECT=<part of the error>] -P assemble.cmake
# Compiles a program to machine code of each target, or must fail with EXPECT.
separate_arguments(targets UNIX_COMMAND "${TARGETS}")
separate_arguments(includes UNIX_COMMAND "${INCLUDES}")
separate_arguments(options UNIX_COMMAND "${OPTIONS}")
list(TRANSFORM includes PREPEND -I)
list(TRANSFORM targets REPLACE "sm_(.+)" "-gencode=arch=compute_\\1,code=sm_\\1")
execute_process(COMMAND ${NVCC} -std=c++17 ${targets} ${options} ${includes} -c ${SOURCE} -o ${OUTPUT}
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT EXPECT)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${SOURCE} does not compile for ${TARGETS}:\n${output}")
  endif()
  return()
endif()
string(FIND "${output}" "${EXPECT}" position)
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles for ${TARGETS}")
elseif(position EQUAL -1)
  message(FATAL_ERROR "${SOURCE} fails for ${TARGETS}, but not with '${EXPECT}':\n${output}")
endif()
