// SPDX-License-Identifier: Apache-2.0
// Allocation, copies, fills, symbols.
#include <cstring>

#include "device.hpp"

using namespace ptx::runtime;
using ptx::allocation_kind;

namespace {

std::uint64_t number(void const* p) { return reinterpret_cast<std::uint64_t>(p); }

cudaError_t allocate(char const* name, void** pointer, std::size_t size, allocation_kind kind) {
  return call(name, [&] {
    not_while_capturing();
    if (pointer == nullptr) { throw refusal(cudaErrorInvalidValue, "no place for the address: a null pointer"); }
    *pointer = nullptr;
    if (size == 0) { return; }
    auto& bytes = device::get().bytes();
    try {
      *pointer = reinterpret_cast<void*>(bytes.allocate(size, kind));
    } catch (ptx::error const& e) { throw refusal(cudaErrorMemoryAllocation, e.what()); }
  });
}

/// \param host whether the call frees what cudaMallocHost gave, or what cudaMalloc and cudaMallocManaged gave
cudaError_t release(char const* name, void* pointer, bool host = false) {
  return call(name, [&] {
    if (pointer == nullptr) { return; }
    not_while_capturing();
    auto& bytes = device::get().bytes();
    if (bytes.contains(number(pointer), 0)) {
      auto const kind = bytes.find(number(pointer))->kind;
      if (host != (kind == allocation_kind::host)) {
        throw refusal(cudaErrorInvalidValue, host ? "not memory of cudaMallocHost" : "memory of cudaMallocHost");
      }
      if (of_program(kind)) {
        throw refusal(cudaErrorInvalidValue, "a variable of the program, which no call allocated");
      }
    }
    bytes.free(number(pointer));
  });
}

bool on_device(void const* p) { return device::get().bytes().reserved(number(p)); }

/// cudaMemcpy's kind must agree with the pointers. Memory of cudaMallocHost and managed memory is both.
void check_kind(void const* to, void const* from, cudaMemcpyKind kind) {
  auto const is_host = [](void const* p) {
    if (!on_device(p)) { return true; }
    auto const* const a = device::get().bytes().find(number(p));
    return a != nullptr && of_host(a->kind);
  };
  bool const to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool const from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind == cudaMemcpyDefault) { return; }
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    throw refusal(cudaErrorInvalidMemcpyDirection, "no such cudaMemcpyKind");
  }
  if (to_device ? !on_device(to) : !is_host(to)) {
    throw refusal(cudaErrorInvalidValue, "the destination is not where the cudaMemcpyKind says");
  }
  if (from_device ? !on_device(from) : !is_host(from)) {
    throw refusal(cudaErrorInvalidValue, "the source is not where the cudaMemcpyKind says");
  }
}

void copy(void* to, void const* from, std::size_t size) {
  if (size == 0) { return; }
  auto& bytes = device::get().bytes();
  if (on_device(to) && on_device(from)) {
    bytes.copy(number(to), number(from), size);
  } else if (on_device(to)) {
    bytes.copy_in(number(to), from, size);
  } else if (on_device(from)) {
    bytes.copy_out(to, number(from), size);
  } else {
    std::memmove(to, from, size);
  }
}

cudaError_t copy_call(char const* name, void* to, void const* from, std::size_t size, cudaMemcpyKind kind,
                      cudaStream_t stream) {
  return call(name, [&] {
    if (size > 0) {
      if (to == nullptr || from == nullptr) { throw refusal(cudaErrorInvalidValue, "a null pointer"); }
      check_kind(to, from, kind);
    }
    submit(stream, cudaGraphNodeTypeMemcpy, [=] { copy(to, from, size); });
  });
}

cudaError_t copy_rows(char const* name, void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return call(name, [&] {
    check_kind(to, from, kind);
    if (height > 1 && (to_pitch < width || from_pitch < width)) {
      throw refusal(cudaErrorInvalidPitchValue, "a row is longer than the distance of rows");
    }
    submit(stream, cudaGraphNodeTypeMemcpy, [=] {
      for (std::size_t i = 0; i < height; ++i) {
        copy(static_cast<char*>(to) + i * to_pitch, static_cast<char const*>(from) + i * from_pitch, width);
      }
    });
  });
}

cudaError_t fill_call(char const* name, void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                      cudaStream_t stream) {
  return call(name, [&] {
    submit(stream, cudaGraphNodeTypeMemset, [=] {
      for (std::size_t i = 0; i < height && width > 0; ++i) {
        device::get().bytes().fill(number(to) + i * pitch, static_cast<std::uint8_t>(value), width);
      }
    });
  });
}

void check_managed(void const* p, std::size_t size) {
  auto const& bytes = device::get().bytes();
  bool const live = on_device(p) && bytes.contains(number(p), size);
  if (!live || !of_host(bytes.find(number(p))->kind) || bytes.find(number(p))->kind == allocation_kind::host) {
    throw refusal(cudaErrorInvalidValue, std::to_string(size) + " bytes that are not managed memory");
  }
}

/// \throws refusal when [offset, offset + size) is not inside the variable
void* inside(void const* symbol, std::size_t offset, std::size_t size) {
  auto const v = variable_of(symbol);
  if (offset > v.size || size > v.size - offset) {
    throw refusal(cudaErrorInvalidValue, std::to_string(size) + " bytes at offset " + std::to_string(offset) +
                                             " of a variable of " + std::to_string(v.size) + " bytes");
  }
  return reinterpret_cast<void*>(v.address + offset);
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** p, std::size_t size) { return allocate("cudaMalloc", p, size, allocation_kind::device); }
cudaError_t cudaMallocManaged(void** p, std::size_t size, unsigned) {
  return allocate("cudaMallocManaged", p, size, allocation_kind::managed);
}
cudaError_t cudaMallocHost(void** p, std::size_t size) {
  return allocate("cudaMallocHost", p, size, allocation_kind::host);
}
cudaError_t cudaHostAlloc(void** p, std::size_t size, unsigned) {
  return allocate("cudaHostAlloc", p, size, allocation_kind::host);
}
cudaError_t cudaMallocAsync(void** p, std::size_t size, cudaStream_t) {
  return allocate("cudaMallocAsync", p, size, allocation_kind::device);
}
cudaError_t cudaMallocPitch(void** p, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return allocate("cudaMallocPitch", p, *pitch * height, allocation_kind::device);
}
cudaError_t cudaFree(void* p) { return release("cudaFree", p); }
cudaError_t cudaFreeHost(void* p) { return release("cudaFreeHost", p, true); }
cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return release("cudaFreeAsync", p); }
cudaError_t cudaHostGetDevicePointer(void** p, void* host, unsigned) {
  *p = host;  // one address space
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, void const* from, std::size_t size, cudaMemcpyKind kind) {
  return copy_call("cudaMemcpy", to, from, size, kind, nullptr);
}
cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_call("cudaMemcpyAsync", to, from, size, kind, stream);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
  return copy_rows("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream);
}
cudaError_t cudaMemcpyPeer(void* to, int, void const* from, int, std::size_t size) {
  return cudaMemcpy(to, from, size, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemset(void* to, int value, std::size_t size) {
  return fill_call("cudaMemset", to, size, value, size, 1, nullptr);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t size, cudaStream_t stream) {
  return fill_call("cudaMemsetAsync", to, size, value, size, 1, stream);
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return fill_call("cudaMemset2D", to, pitch, value, width, height, nullptr);
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  return fill_call("cudaMemset2DAsync", to, pitch, value, width, height, stream);
}

cudaError_t cudaMemcpyToSymbolAsync(void const* symbol, void const* from, std::size_t size, std::size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return call("cudaMemcpyToSymbol", [&] {
    void* const to = inside(symbol, offset, size);
    check_kind(to, from, kind);
    submit(stream, cudaGraphNodeTypeMemcpy, [=] { copy(to, from, size); });
  });
}
cudaError_t cudaMemcpyToSymbol(void const* symbol, void const* from, std::size_t size, std::size_t offset,
                               cudaMemcpyKind kind) {
  return cudaMemcpyToSymbolAsync(symbol, from, size, offset, kind, nullptr);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, void const* symbol, std::size_t size, std::size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return call("cudaMemcpyFromSymbol", [&] {
    void const* const from = inside(symbol, offset, size);
    check_kind(to, from, kind);
    submit(stream, cudaGraphNodeTypeMemcpy, [=] { copy(to, from, size); });
  });
}
cudaError_t cudaMemcpyFromSymbol(void* to, void const* symbol, std::size_t size, std::size_t offset,
                                 cudaMemcpyKind kind) {
  return cudaMemcpyFromSymbolAsync(to, symbol, size, offset, kind, nullptr);
}
cudaError_t cudaGetSymbolAddress(void** p, void const* symbol) {
  return call("cudaGetSymbolAddress", [&] { *p = inside(symbol, 0, 0); });
}
cudaError_t cudaGetSymbolSize(std::size_t* size, void const* symbol) {
  return call("cudaGetSymbolSize", [&] { *size = variable_of(symbol).size; });
}

/// Where managed memory lies is a matter of speed alone.
cudaError_t cudaMemPrefetchAsync(void const* p, std::size_t size, cudaMemLocation, unsigned, cudaStream_t) {
  return call("cudaMemPrefetchAsync", [&] { check_managed(p, size); });
}
cudaError_t cudaMemAdvise(void const* p, std::size_t size, cudaMemoryAdvise, cudaMemLocation) {
  return call("cudaMemAdvise", [&] { check_managed(p, size); });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call("cudaMemGetInfo", [&] {
    auto const& bytes = device::get().bytes();
    *total = bytes.capacity();
    *free = bytes.capacity() - bytes.bytes_in_use();
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* p) {
  return call("cudaPointerGetAttributes", [&] {
    *attributes = {};
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = cudaInvalidDeviceId;
    attributes->hostPointer = const_cast<void*>(p);
    auto const& bytes = device::get().bytes();
    if (!on_device(p) || !bytes.contains(number(p), 1)) { return; }
    auto const kind = bytes.find(number(p))->kind;
    attributes->device = 0;
    attributes->devicePointer = const_cast<void*>(p);
    attributes->type = kind == allocation_kind::host ? cudaMemoryTypeHost
                       : of_host(kind)               ? cudaMemoryTypeManaged
                                                     : cudaMemoryTypeDevice;
    if (attributes->type == cudaMemoryTypeDevice) { attributes->hostPointer = nullptr; }
  });
}

}  // extern "C"
