// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The one emulated device behind the runtime calls: what the program registered, its machine, its last error.

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fat_binary.hpp"
#include "machine.hpp"

/// The handles that programs hold.
struct CUstream_st;
struct CUkern_st {
  std::string name;                ///< in the PTX
  std::size_t binary = 0;          ///< which fat binary it came with
  int dynamic_shared = 48 * 1024;  ///< cudaFuncAttributeMaxDynamicSharedMemorySize
};

namespace ptx::runtime {

/// What an emulated device has; see properties.cpp.
struct traits {
  int number, multiprocessors, threads_per_multiprocessor, blocks_per_multiprocessor;
  int shared_per_multiprocessor, shared_per_block;  ///< bytes; the second is what a kernel can opt in to
};

struct variable {
  std::string name;
  std::size_t binary = 0, size = 0;
  void** managed = nullptr;  ///< where the host keeps the address of a __managed__ variable
};

/// A fat binary of the program; its PTX is loaded when it is first needed.
struct binary {
  fat_binary content;
  std::optional<module_id> loaded;
};

class device {
 public:
  static device& get();

  /// Refuses: prints the sentence on stderr, remembers the code for cudaGetLastError.
  cudaError_t fail(cudaError_t code, std::string const& sentence);
  /// The same without a sentence; success is not remembered.
  cudaError_t remember(cudaError_t code);

  /// The machine, made when first asked for. FP4_PTX_TARGET says what it is, else the newest image does.
  machine& gpu();
  memory& bytes() { return gpu().device_memory(); }
  traits const& what();

  /// Loads what the kernel or variable came with. \throws refusal
  module_id module_of(std::size_t binary);
  kernel_info const& info(CUkern_st const& kernel);
  variable_info where(variable const& v);

  /// Registered by the program's start-up code, in this order.
  std::vector<binary> binaries;
  std::map<void const*, CUkern_st> kernels;
  std::map<void const*, variable> variables;

  cudaError_t last = cudaSuccess;
  cudaError_t sticky = cudaSuccess;  ///< after a finding nothing works any more, as on a device
  bool made() const { return gpu_ != nullptr; }
  void drop();  ///< cudaDeviceReset

 private:
  [[nodiscard]] target wanted() const;
  std::unique_ptr<machine> gpu_;
};

/// A refusal with the code that the call returns.
struct refusal : error {
  refusal(cudaError_t c, std::string const& sentence) : error(sentence), code(c) {}
  cudaError_t code;
};

/// Runs the body of a runtime call: sticky errors first, refusals and errors become codes.
cudaError_t call(char const* name, std::function<void()> const& body);

/// The kernel that a host function's address, or a handle, stands for. \throws refusal
CUkern_st& kernel_of(void const* function);
/// \throws refusal
variable_info variable_of(void const* symbol);

/// Runs a kernel now, prints what was asked for, throws a refusal after a finding.
void launch(CUkern_st& kernel, launch_request request);
/// Copies the parameters that a launch's pointers point to. \throws refusal
launch_request prepare(CUkern_st& kernel, ::dim3 grid, ::dim3 block, std::size_t shared, void** arguments);
/// Counters of one launch on stderr, or behind the file that FP4_PTX_REPORT names.
void print_report(launch_request const& request, launch_report const& report);

/// Runs `work` now, or records it in the graph that the stream is captured into.
void submit(cudaStream_t stream, cudaGraphNodeType type, std::function<void()> work);
/// \throws refusal when a call like cudaMalloc comes while a stream is captured
void not_while_capturing();

}  // namespace ptx::runtime
