// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The PTX instructions of gemm_tcgen05.cu by name, for one thread block of a cluster of one.

#include <cstdint>

namespace tcgen05 {

using std::uint32_t;
using std::uint64_t;

inline __device__ uint32_t shared_address(void const* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// --- Tensor memory. A whole warp calls these. ---------------------------------------------------------------------

/// Allocates `columns` columns, a power of two from 32 to 512, and writes their address to shared memory.
inline __device__ void allocate(uint32_t* address, uint32_t columns) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(address)),
               "r"(columns)
               : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
}
inline __device__ void release(uint32_t address, uint32_t columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns));
}
/// Eight columns of the warp's 32 lanes; the thread gets its lane's.
inline __device__ void load(uint32_t address, float (&v)[8]) {
  uint32_t r[8];
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];\n"
      "tcgen05.wait::ld.sync.aligned;"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
      : "r"(address)
      : "memory");
  for (int i = 0; i < 8; ++i) { v[i] = __uint_as_float(r[i]); }
}

// --- Work for the tensor core. One thread issues it; copies and products of one thread run in their order. -----------

/// 512 bytes of block scales from shared to tensor memory, to all four quarters of the lanes.
inline __device__ void copy_scales(uint32_t to, uint64_t from) {
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(from) : "memory");
}
/// D = A B + D of 64 columns, or A B where `adds` is false.
inline __device__ void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction, uint32_t scales_a,
                                uint32_t scales_b, bool adds) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %6, 0;\n"
      "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%0], %1, %2, %3, [%4], [%5], p;}" ::"r"(d),
      "l"(a), "l"(b), "r"(instruction), "r"(scales_a), "r"(scales_b), "r"(static_cast<uint32_t>(adds))
      : "memory");
}
/// The barrier is arrived at when all that this thread issued before is done.
inline __device__ void arrive_when_done(uint64_t* barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(barrier))
      : "memory");
}

// --- Order ------------------------------------------------------------------------------------------------------

/// A barrier that one arrival completes.
inline __device__ void make_barrier(uint64_t* barrier) {
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], 1;\n"
      "fence.mbarrier_init.release.cluster;" ::"r"(shared_address(barrier))
      : "memory");
}
/// Waits for the phase of this parity to end.
inline __device__ void wait(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{.reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra again;}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
/// What this thread wrote to shared memory may be read by the tensor core, once another thread has heard of it.
inline __device__ void show_shared_to_tensor_core() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/// Around a barrier of the block: tensor-memory work before it, and work after it.
inline __device__ void fence_before_sync() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
inline __device__ void fence_after_sync() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

}  // namespace tcgen05
