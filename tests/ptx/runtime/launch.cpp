// SPDX-License-Identifier: Apache-2.0
// Kernel launches: checks before them, findings after them.
#include <cstdio>
#include <cstring>

#include "device.hpp"

namespace ptx::runtime {
namespace {

std::string text(ptx::dim3 d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

cudaError_t code_of(problem kind) {
  switch (kind) {
    case problem::out_of_bounds:
    case problem::use_after_free:
    case problem::read_only: return cudaErrorIllegalAddress;
    case problem::misaligned: return cudaErrorMisalignedAddress;
    case problem::timeout: return cudaErrorLaunchTimeout;
    case problem::undefined:
    case problem::race:
    case problem::barrier:
    case problem::trap: return cudaErrorLaunchFailure;
  }
  return cudaErrorLaunchFailure;
}

void check_dimensions(launch_request const& r) {
  auto const &g = r.grid, &b = r.block;
  if (g.count() == 0 || g.x > 0x7FFFFFFFu || g.y > 65535 || g.z > 65535) {
    throw refusal(cudaErrorInvalidConfiguration, "a grid cannot have " + text(g) + " blocks");
  }
  if (b.count() == 0 || b.count() > 1024 || b.x > 1024 || b.y > 1024 || b.z > 64) {
    throw refusal(cudaErrorInvalidConfiguration, "a block cannot have " + text(b) + " threads");
  }
  auto const& c = r.cluster;
  if (c.count() > 1 && (g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0 || c.count() > 8)) {
    throw refusal(cudaErrorInvalidClusterSize, "a grid of " + text(g) + " blocks has no clusters of " + text(c));
  }
}

void check_resources(CUkern_st const& kernel, kernel_info const& info, launch_request const& r) {
  if (r.block.count() > static_cast<std::uint64_t>(info.max_threads)) {
    throw refusal(cudaErrorLaunchOutOfResources, readable(kernel.name) + " was compiled for blocks of at most " +
                                                     std::to_string(info.max_threads) + " threads, not " +
                                                     std::to_string(r.block.count()));
  }
  auto const dynamic_limit = static_cast<std::size_t>(kernel.dynamic_shared);
  auto const limit = std::max<std::size_t>(48 * 1024, dynamic_limit + info.static_shared);
  if (r.dynamic_shared + info.static_shared > limit) {
    throw refusal(cudaErrorInvalidValue, readable(kernel.name) + " wants " + std::to_string(r.dynamic_shared) + " + " +
                                             std::to_string(info.static_shared) +
                                             " bytes of shared memory (dynamic + static), the limit is " +
                                             std::to_string(limit) + "; cudaFuncSetAttribute raises it");
  }
}

}  // namespace

launch_request prepare(CUkern_st& kernel, ::dim3 grid, ::dim3 block, std::size_t shared, void** arguments) {
  launch_request r;
  r.kernel = kernel.name;
  r.grid = {grid.x, grid.y, grid.z};
  r.block = {block.x, block.y, block.z};
  r.dynamic_shared = shared;
  check_dimensions(r);
  kernel_info const& info = device::get().info(kernel);
  check_resources(kernel, info, r);
  r.parameters.resize(info.parameter_bytes);
  if (arguments == nullptr && !info.parameters.empty()) {
    throw refusal(cudaErrorInvalidValue, readable(kernel.name) + " has " + std::to_string(info.parameters.size()) +
                                             " parameters, and there are no arguments: a null pointer");
  }
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    std::memcpy(r.parameters.data() + info.parameters[i].offset, arguments[i], info.parameters[i].size);
  }
  return r;
}

void launch(CUkern_st& kernel, launch_request request) {
  auto& d = device::get();
  if (request.cluster.count() <= 1 && d.info(kernel).cluster.count() > 1) { request.cluster = d.info(kernel).cluster; }
  check_dimensions(request);
  launch_report report;
  try {
    report = d.gpu().launch(d.module_of(kernel.binary), request);
  } catch (unsupported const& e) { throw refusal(cudaErrorInvalidPtx, e.what()); } catch (error const& e) {
    d.sticky = cudaErrorLaunchFailure;
    throw refusal(d.sticky, "kernel " + readable(kernel.name) + " cannot be interpreted: " + e.what());
  }
  print_report(request, report);
  if (report.problem) {
    d.sticky = code_of(report.problem->kind);
    throw refusal(d.sticky, report.problem->report());
  }
}

}  // namespace ptx::runtime

using namespace ptx::runtime;

namespace {

cudaError_t launch_call(char const* name, cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                        std::size_t shared, cudaStream_t stream, ptx::dim3 cluster = {}, bool cooperative = false) {
  return call(name, [&] {
    ptx::launch_request r = prepare(*kernel, grid, block, shared, arguments);
    r.cluster = cluster;
    r.cooperative = cooperative;
    submit(stream, cudaGraphNodeTypeKernel, [kernel, r] { launch(*kernel, r); });
  });
}

/// What launch attributes ask for; those that only change timing are accepted.
void read_attributes(cudaLaunchConfig_t const& c, ptx::dim3& cluster, bool& cooperative) {
  for (unsigned i = 0; i < c.numAttrs; ++i) {
    auto const& a = c.attrs[i];
    switch (a.id) {
      case cudaLaunchAttributeClusterDimension:
        cluster = {a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z};
        break;
      case cudaLaunchAttributeCooperative: cooperative = a.val.cooperative != 0; break;
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeAccessPolicyWindow:
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      case cudaLaunchAttributePreferredSharedMemoryCarveout:
      case cudaLaunchAttributeProgrammaticStreamSerialization: break;
      default: throw refusal(cudaErrorNotSupported, "launch attribute " + std::to_string(a.id) + " is not implemented");
    }
  }
}

}  // namespace

extern "C" {

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               cudaStream_t stream) {
  if (kernel == nullptr) {
    return device::get().fail(cudaErrorInvalidDeviceFunction, "a launch of a kernel that was not registered");
  }
  return launch_call("<<<...>>>", kernel, grid, block, arguments, shared, stream);
}

cudaError_t cudaLaunchKernel(void const* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t stream) {
  CUkern_st* kernel = nullptr;
  auto const e = call("cudaLaunchKernel", [&] { kernel = &kernel_of(function); });
  return e != cudaSuccess ? e : launch_call("cudaLaunchKernel", kernel, grid, block, arguments, shared, stream);
}

cudaError_t cudaLaunchCooperativeKernel(void const* function, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared, cudaStream_t stream) {
  CUkern_st* kernel = nullptr;
  auto const e = call("cudaLaunchCooperativeKernel", [&] { kernel = &kernel_of(function); });
  return e != cudaSuccess
             ? e
             : launch_call("cudaLaunchCooperativeKernel", kernel, grid, block, arguments, shared, stream, {}, true);
}

cudaError_t cudaLaunchKernelExC(cudaLaunchConfig_t const* config, void const* function, void** arguments) {
  CUkern_st* kernel = nullptr;
  ptx::dim3 cluster{};
  bool cooperative = false;
  auto const e = call("cudaLaunchKernelExC", [&] {
    kernel = &kernel_of(function);
    read_attributes(*config, cluster, cooperative);
  });
  return e != cudaSuccess ? e
                          : launch_call("cudaLaunchKernelExC", kernel, config->gridDim, config->blockDim, arguments,
                                        config->dynamicSmemBytes, config->stream, cluster, cooperative);
}

}  // extern "C"
