# SPDX-License-Identifier: Apache-2.0
# cmake -DCOMPILER=<nvcc> -DSTANDARD=c++17 -DINCLUDE_DIR=... -DDIR=... -P gpu_compiler.cmake
# A program that uses the library on the host, compiled by nvcc and run.
file(WRITE ${DIR}/host_use.cu [[
#include <fp4/fp4.hpp>

int main() {
  float x[32] = {1.0f, -6.0f};
  auto const q = fp4::quantize<fp4::nvfp4>(fp4::matrix_view<float const>(x, 1, 32), fp4::exact{});
  auto const y = fp4::dequantize<float>(q);
  return y[0] == 1.0f && y[1] == -6.0f && y[2] == 0.0f ? 0 : 1;
}
]])
execute_process(COMMAND ${COMPILER} -std=${STANDARD} -Werror=all-warnings -I${INCLUDE_DIR}
                        -o ${DIR}/host_use_${STANDARD} ${DIR}/host_use.cu COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${DIR}/host_use_${STANDARD} COMMAND_ERROR_IS_FATAL ANY)
