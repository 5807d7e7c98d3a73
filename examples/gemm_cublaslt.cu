// SPDX-License-Identifier: Apache-2.0
// Quantizes on the GPU with fp4, multiplies by cublasLt: Y = X W^T for activations X [tokens, k] and weights
// W [features, k].
//   nvcc -std=c++17 -Iinclude -gencode arch=compute_100a,code=sm_100a -gencode arch=compute_120a,code=sm_120a \
//        examples/gemm_cublaslt.cu -lcublasLt -o gemm_cublaslt && ./gemm_cublaslt
// fp4's codes and tiled_128x4_scales are what cublasLt reads: nothing is packed in between.
#include <cublasLt.h>

#include <fp4/gpu/amax.cuh>
#include <fp4/gpu/quantize.cuh>
#include <fp4/layout/descriptor_checks.hpp>
#include <stdexcept>
#include <string>

#include "device.cuh"
#include "gemm/operands.hpp"

namespace {

using ::check;
void check(cublasStatus_t status, char const* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string(call) + ": " + cublasLtGetStatusName(status));
  }
}
#define CHECK(call) check(call, #call)

/// What cublasLt's objects are destroyed by.
template <class Handle, cublasStatus_t (*Destroy)(Handle)>
struct owned {
  Handle handle = nullptr;
  owned() = default;
  owned(owned const&) = delete;
  owned& operator=(owned const&) = delete;
  ~owned() {
    if (handle != nullptr) { Destroy(handle); }
  }
};
using library = owned<cublasLtHandle_t, cublasLtDestroy>;
using description = owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using preference = owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;
struct matrix_layout : owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy> {
  /// Of `columns` columns, `rows` elements each, one behind the other.
  matrix_layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns) {
    CHECK(cublasLtMatrixLayoutCreate(&handle, type, static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns), rows));
  }
};

/// A matrix on the device: values, and what gpu::quantize_async makes of them.
class operand {
 public:
  operand(std::vector<float> const& values, std::int64_t rows, std::int64_t cols)
      : rows(rows),
        cols(cols),
        codes(static_cast<std::size_t>(rows * fp4::nvfp4::row_bytes(cols))),
        scales(static_cast<std::size_t>(fp4::tiled_128x4_scales::bytes(rows, fp4::nvfp4::blocks(cols)))) {
    device_array<float> in(values), amax(1);
    fp4::matrix_view<float const> const x(in.data(), rows, cols);
    fp4::gpu::amax_async(x, amax.data());
    // cublasLt takes no tensor scales: they become its alpha, which lies on the host here.
    scale = fp4::tensor_scale::from_amax(amax.read()[0]);
    fp4::gpu::quantize_async(x, view(), scale, fp4::choices<fp4::transformer_engine>{});
    check(cudaDeviceSynchronize(), "quantize_async");
  }
  [[nodiscard]] fp4::quantized_view<fp4::nvfp4, fp4::tiled_128x4_scales> view() {
    return {codes.data(), scales.data(), scales.size(), rows, cols};
  }
  [[nodiscard]] fp4::quantized<fp4::nvfp4, fp4::tiled_128x4_scales> on_host() const {
    return {rows, cols, fp4::transformer_engine::decoding, codes.read(), scales.read(), {scale}};
  }

  std::int64_t rows, cols;
  device_array<std::uint8_t> codes, scales;
  fp4::tensor_scale scale = fp4::tensor_scale::from_amax(0.0f);
};

/// Y = X W^T, rows of Y one behind the other. cublasLt counts columns first: its D is [features, tokens], its A is W
/// (transposed), its B is X.
void multiply(operand& w, operand& x, fp4::bfloat16* y) {
  auto const number = [](void const* p) { return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(p)); };
  fp4::cublaslt_nvfp4_matmul problem;
  problem.m = w.rows, problem.n = x.rows, problem.k = w.cols;
  problem.a = number(w.codes.data()), problem.b = number(x.codes.data()), problem.d = number(y);
  problem.scales_a = number(w.scales.data()), problem.scales_b = number(x.scales.data());
  fp4::require(fp4::check(problem), "multiply");  // says what cublasLt would answer with NOT_SUPPORTED

  library lt;
  CHECK(cublasLtCreate(&lt.handle));
  description what;
  CHECK(cublasLtMatmulDescCreate(&what.handle, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  auto const set = [&](cublasLtMatmulDescAttributes_t attribute, auto const& value) {
    CHECK(cublasLtMatmulDescSetAttribute(what.handle, attribute, &value, sizeof value));
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3);
  set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3);
  void const *const scales_a = w.scales.data(), *const scales_b = x.scales.data();
  set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scales_a);
  set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scales_b);

  matrix_layout const a(CUDA_R_4F_E2M1, w.cols, w.rows), b(CUDA_R_4F_E2M1, x.cols, x.rows);
  matrix_layout const d(CUDA_R_16BF, w.rows, x.rows);
  std::size_t const workspace_bytes = std::size_t{32} << 20;
  device_array<std::uint8_t> workspace(workspace_bytes);
  preference wish;
  CHECK(cublasLtMatmulPreferenceCreate(&wish.handle));
  CHECK(cublasLtMatmulPreferenceSetAttribute(wish.handle, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                             sizeof workspace_bytes));
  cublasLtMatmulHeuristicResult_t way{};
  int found = 0;
  CHECK(cublasLtMatmulAlgoGetHeuristic(lt.handle, what.handle, a.handle, b.handle, d.handle, d.handle, wish.handle, 1,
                                       &way, &found));
  if (found == 0) { throw std::runtime_error("cublasLt has no algorithm for this product on this device"); }

  float const alpha = w.scale.decode() * x.scale.decode(), beta = 0;
  CHECK(cublasLtMatmul(lt.handle, what.handle, &alpha, w.codes.data(), a.handle, x.codes.data(), b.handle, &beta, y,
                       d.handle, y, d.handle, &way.algo, workspace.data(), workspace_bytes, nullptr));
  check(cudaDeviceSynchronize(), "cublasLtMatmul");
}

int run() {
  if (!has_device(100, 129, "any Blackwell")) { return skipped; }
  constexpr std::int64_t tokens = 96, features = 256, k = 512;
  operand w(gemm::random_values(features * k, 1), features, k), x(gemm::random_values(tokens * k, 2), tokens, k);
  device_array<fp4::bfloat16> y(static_cast<std::size_t>(tokens * features));
  multiply(w, x, y.data());
  return gemm::report("cublasLt", x.on_host(), w.on_host(), y.read()) ? 0 : 1;
}

}  // namespace

int main() { return exit_status(run); }
