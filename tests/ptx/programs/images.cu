// SPDX-License-Identifier: Apache-2.0
// Prints what becomes of one launch; built without PTX, with compressed PTX and so on, to see the refusals.
#include <cuda_runtime_api.h>

#include <cstdio>

__global__ void one(int* x) { *x = 1; }

int main() {
  int* x = nullptr;
  int value = 0;
  cudaError_t code = cudaMalloc(&x, sizeof(int));
  if (code == cudaSuccess) {
    one<<<1, 1>>>(x);
    code = cudaGetLastError();
  }
  if (code == cudaSuccess) { code = cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost); }
  std::printf("the launch says %s, the value is %d\n", cudaGetErrorName(code), value);
}
