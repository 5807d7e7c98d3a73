// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace ptx::runtime {
namespace {

struct sigaction before;  // what the program did on SIGSEGV

/// Says why, where host code crashes at an address of the device; then leaves the crash to the program.
void explain(int, siginfo_t* info, void*) {
  auto& d = device::get();
  if (d.made() && d.bytes().reserved(reinterpret_cast<std::uint64_t>(info->si_addr))) {
    constexpr char text[] = "fp4 ptx: host code touches device memory; only cudaMemcpy and kernels reach it\n";
    [[maybe_unused]] auto const written = write(STDERR_FILENO, text, sizeof text - 1);
  }
  sigaction(SIGSEGV, &before, nullptr);
}

void explain_crashes() {
  struct sigaction ours {};
  ours.sa_sigaction = explain;
  ours.sa_flags = SA_SIGINFO;
  static int const once = sigaction(SIGSEGV, &ours, &before);
  (void)once;
}

}  // namespace

device& device::get() {
  static device* const one = new device;  // outlives the program's own static objects
  return *one;
}

cudaError_t device::remember(cudaError_t code) {
  if (code != cudaSuccess) { last = code; }
  return code;
}

cudaError_t device::fail(cudaError_t code, std::string const& sentence) {
  std::fprintf(stderr, "fp4 ptx: %s\n", sentence.c_str());
  return remember(code);
}

target device::wanted() const {
  if (char const* const name = std::getenv("FP4_PTX_TARGET"); name != nullptr && *name != '\0') {
    try {
      return target::parse(name);
    } catch (error const& e) { throw refusal(cudaErrorNoDevice, std::string("FP4_PTX_TARGET: ") + e.what()); }
  }
  target newest{80, 0};
  for (auto const& b : binaries) {
    for (auto const& i : b.content.images) {
      if (rank(i.built_for) > rank(newest)) { newest = i.built_for; }
    }
  }
  return newest;
}

machine& device::gpu() {
  if (!gpu_) {
    machine_options options;
    if (char const* const how = std::getenv("FP4_PTX_APPROX"); how != nullptr) {
      std::string const text = how;
      options.approximation = text == "below"   ? approximate::below
                              : text == "above" ? approximate::above
                                                : approximate::exact;
    }
    if (char const* const steps = std::getenv("FP4_PTX_STEPS"); steps != nullptr) {
      options.step_limit = std::strtoull(steps, nullptr, 10);
    }
    gpu_ = std::make_unique<machine>(wanted(), options);
    explain_crashes();
  }
  return *gpu_;
}

void device::drop() {
  gpu_.reset();
  for (auto& b : binaries) { b.loaded.reset(); }
  last = sticky = cudaSuccess;
}

module_id device::module_of(std::size_t index) {
  auto& b = binaries.at(index);
  if (b.loaded) { return *b.loaded; }
  auto const& content = b.content;
  std::string const me = gpu().which().name();
  if (content.images.empty()) {
    throw refusal(cudaErrorNoKernelImageForDevice,
                  content.compressed > 0
                      ? "the PTX in this program is compressed: build it with nvcc --compress-mode=none"
                      : "there is no PTX in this program: build it with nvcc -gencode arch=compute_XX,code=compute_XX");
  }
  image const* const chosen = choose(content.images, gpu().which());
  if (chosen == nullptr) {
    throw refusal(cudaErrorNoKernelImageForDevice,
                  "no PTX in this program runs on " + me + ", only " + list(content.images) + " was built");
  }
  try {
    b.loaded = gpu().load(chosen->text);
  } catch (error const& e) { throw refusal(cudaErrorInvalidPtx, std::string("the PTX cannot be loaded: ") + e.what()); }
  return *b.loaded;
}

kernel_info const& device::info(CUkern_st const& kernel) {
  module_id const m = module_of(kernel.binary);
  try {
    return gpu().kernel(m, kernel.name);
  } catch (error const& e) { throw refusal(cudaErrorInvalidDeviceFunction, e.what()); }
}

variable_info device::where(variable const& v) {
  module_id const m = module_of(v.binary);
  try {
    return gpu().variable(m, v.name);
  } catch (error const& e) { throw refusal(cudaErrorInvalidSymbol, e.what()); }
}

cudaError_t call(char const* name, std::function<void()> const& body) {
  static auto* const one_at_a_time = new std::recursive_mutex;  // outlives the program's own static objects
  std::lock_guard<std::recursive_mutex> const lock(*one_at_a_time);
  auto& d = device::get();
  if (d.sticky != cudaSuccess) { return d.remember(d.sticky); }
  try {
    body();
    return cudaSuccess;
  } catch (refusal const& r) {
    return d.fail(r.code, std::string(name) + ": " + r.what());
  } catch (std::bad_alloc const&) {
    return d.fail(cudaErrorMemoryAllocation, std::string(name) + ": the host has no memory left");
  } catch (error const& e) { return d.fail(cudaErrorInvalidValue, std::string(name) + ": " + e.what()); }
}

CUkern_st& kernel_of(void const* function) {
  auto& kernels = device::get().kernels;
  if (auto const at = kernels.find(function); at != kernels.end()) { return at->second; }
  for (auto& [host, kernel] : kernels) {
    if (&kernel == function) { return kernel; }  // already a cudaKernel_t
  }
  throw refusal(cudaErrorInvalidDeviceFunction, "no kernel of this program was registered for this function");
}

variable_info variable_of(void const* symbol) {
  auto const& variables = device::get().variables;
  auto const at = variables.find(symbol);
  if (at == variables.end()) {
    throw refusal(cudaErrorInvalidSymbol, "no __device__ or __constant__ variable of this program has this address");
  }
  return device::get().where(at->second);
}

}  // namespace ptx::runtime
