// SPDX-License-Identifier: Apache-2.0
// fp4's operands in CUTLASS's block-scaled GEMMs, of its SM100 and of its SM120 kind: D = A B^T, bfloat16.
//   pip install nvidia-cutlass==4.2.0.0    # headers: site-packages/cutlass_library/source
//   nvcc -std=c++17 --expt-relaxed-constexpr -Iinclude -I$CUTLASS/include -I$CUTLASS/tools/util/include \
//        -gencode arch=compute_120a,code=sm_120a examples/gemm_cutlass.cu -lcuda -o gemm_cutlass && ./gemm_cutlass
// With -DFP4_CUTLASS_SM100 and -gencode arch=compute_100a,code=sm_100a it is for B200 and B300.
// Codes and tiled_128x4_scales are handed over as they are.
#include <cutlass/cutlass.h>

#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>
#include <fp4/fp4.hpp>

#include "device.cuh"
#include "gemm/operands.hpp"

namespace {

using quantized = fp4::quantized<fp4::nvfp4, fp4::tiled_128x4_scales>;

/// CUTLASS's GEMM for A [m, k] and B [n, k] with k inside rows of both, and D [m, n] with n inside.
template <class Arch, class TileShape>
struct block_scaled {
  using element = cutlass::nv_float4_t<cutlass::float_e2m1_t>;
  using output = cutlass::bfloat16_t;
  using row_major = cutlass::layout::RowMajor;
  using column_major = cutlass::layout::ColumnMajor;
  using single = cute::Shape<cute::_1, cute::_1, cute::_1>;  // clusters
  using tensor_op = cutlass::arch::OpClassBlockScaledTensorOp;
  static constexpr int alignment = 32, output_alignment = 8;  // elements in 16 bytes

  using epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      Arch, tensor_op, TileShape, single, cutlass::epilogue::collective::EpilogueTileAuto, float, float, output,
      row_major, output_alignment, output, row_major, output_alignment,
      cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;
  using mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      Arch, tensor_op, element, row_major, alignment, element, column_major, alignment, float, TileShape, single,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename epilogue::SharedStorage))>,
      cutlass::gemm::collective::KernelScheduleAuto>::CollectiveOp;
  using kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, mainloop, epilogue, void>;
  using gemm = cutlass::gemm::device::GemmUniversalAdapter<kernel>;
};
#ifdef FP4_CUTLASS_SM100
using kind = block_scaled<cutlass::arch::Sm100, cute::Shape<cute::_128, cute::_128, cute::_256>>;
bool is_right_device() { return has_device(100, 109, "sm_100 or sm_103"); }
#else
using kind = block_scaled<cutlass::arch::Sm120, cute::Shape<cute::_128, cute::_128, cute::_128>>;
bool is_right_device() { return has_device(120, 129, "sm_120 or sm_121"); }
#endif

/// A quantized matrix on the device.
struct operand {
  explicit operand(quantized const& q) : codes(q.codes()), scales(q.scales()) {}
  device_array<std::uint8_t> codes, scales;
};

void check(cutlass::Status status, char const* where) {
  if (status != cutlass::Status::kSuccess) {
    throw std::runtime_error(std::string(where) + ": " + cutlass::cutlassGetStatusString(status));
  }
}

template <class Kind>
void multiply(quantized const& a, quantized const& b, fp4::bfloat16* d) {
  using gemm = typename Kind::gemm;
  using kernel = typename gemm::GemmKernel;
  using scale_config = typename kernel::CollectiveMainloop::Sm1xxBlkScaledConfig;
  using code = typename gemm::ElementA;
  using scale = typename kernel::CollectiveMainloop::ElementSF;
  int const m = static_cast<int>(a.rows()), n = static_cast<int>(b.rows()), k = static_cast<int>(a.cols());
  auto const shape = cute::make_shape(m, n, k, 1);
  auto const stride_d = cutlass::make_cute_packed_stride(typename kernel::StrideD{}, cute::make_shape(m, n, 1));
  operand of_a(a), of_b(b);
  auto* const out = reinterpret_cast<typename Kind::output*>(d);
  typename gemm::Arguments arguments{
      cutlass::gemm::GemmUniversalMode::kGemm,
      shape,
      {reinterpret_cast<code const*>(of_a.codes.data()),
       cutlass::make_cute_packed_stride(typename kernel::StrideA{}, cute::make_shape(m, k, 1)),
       reinterpret_cast<code const*>(of_b.codes.data()),
       cutlass::make_cute_packed_stride(typename kernel::StrideB{}, cute::make_shape(n, k, 1)),
       reinterpret_cast<scale const*>(of_a.scales.data()), scale_config::tile_atom_to_shape_SFA(shape),
       reinterpret_cast<scale const*>(of_b.scales.data()), scale_config::tile_atom_to_shape_SFB(shape)},
      {{a.tensor_scale().decode() * b.tensor_scale().decode(), 0.0f}, out, stride_d, out, stride_d}};
  gemm multiplication;
  check(multiplication.can_implement(arguments), "can_implement");
  device_array<std::uint8_t> workspace(gemm::get_workspace_size(arguments) + 1);
  check(multiplication.initialize(arguments, workspace.data()), "initialize");
  check(multiplication.run(), "run");
  ::check(cudaDeviceSynchronize(), "multiply");
}

int run() {
  if (!is_right_device()) { return skipped; }
  constexpr std::int64_t m = 96, n = 256, k = 512;
  auto const a = gemm::random_operand<fp4::tiled_128x4_scales>(m, k, 1);
  auto const b = gemm::random_operand<fp4::tiled_128x4_scales>(n, k, 2);
  device_array<fp4::bfloat16> d(static_cast<std::size_t>(m * n));
  multiply<kind>(a, b, d.data());
  return gemm::report("CUTLASS", a, b, d.read()) ? 0 : 1;
}

}  // namespace

int main() { return exit_status(run); }
