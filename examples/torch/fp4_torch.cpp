// SPDX-License-Identifier: Apache-2.0
// The operations of examples/jax for PyTorch tensors on the CPU.

#include <torch/extension.h>

#include <tuple>

#include "../binding/operations.hpp"

namespace {

using fp4::recipe::number;

/// The order of fp4::recipe::number.
constexpr char const* names[] = {"bf16", "nvfp4", "mxfp8_e4m3", "mxfp8_e5m2", "fp8_e4m3", "fp8_e5m2"};

number number_of(std::string const& name) {
  for (int i = 1; i < 6; ++i) {
    if (name == names[i]) { return static_cast<number>(i); }
  }
  TORCH_CHECK_VALUE(false, "fp4_torch: number must be nvfp4, mxfp8_e4m3, mxfp8_e5m2, fp8_e4m3 or fp8_e5m2 (got ", name,
                    ")");
}

/// `x` without gaps; leading axes become a batch of matrices.
at::Tensor matrices(at::Tensor const& x) {
  TORCH_CHECK_VALUE(x.device().is_cpu(), "fp4_torch: values must be on the CPU (got ", x.device(), ")");
  TORCH_CHECK_VALUE(x.dim() >= 2, "fp4_torch: values must have rows and columns (got rank ", x.dim(), ")");
  return x.contiguous();
}

template <class T, class Tensor>
binding::batch<T> batch_of(Tensor& x) {
  std::int64_t const rows = x.size(-2), cols = x.size(-1), size = rows * cols;
  return {static_cast<T*>(x.data_ptr()), size == 0 ? 0 : x.numel() / size, rows, cols};
}

/// Calls work with a null pointer of the library's type for x's values.
template <class Work>
void with_type(at::Tensor const& x, Work const& work) {
  switch (x.scalar_type()) {
    case at::kFloat: return work(static_cast<float*>(nullptr));
    case at::kBFloat16: return work(static_cast<fp4::bfloat16*>(nullptr));
    case at::kHalf: return work(static_cast<fp4::float16*>(nullptr));
    default:
      TORCH_CHECK_VALUE(false, "fp4_torch: values must be float32, bfloat16 or float16 (got ", x.scalar_type(), ")");
  }
}

/// The choices of a call, checked against the shape. \throws std::invalid_argument, ValueError in Python.
binding::request request_of(at::Tensor const& x, std::string const& name, bool is_stochastic, bool is_2d, int hadamard,
                            bool is_columnwise) {
  binding::request const asked{
      {number_of(name), is_stochastic, is_2d, hadamard, hadamard != 0}, is_columnwise, fp4::recipe::matrix::activation};
  fp4::require(check(asked.how), "fp4_torch");
  fp4::recipe::with_choices(asked.how, is_columnwise, asked.which, {}, {}, [&](auto, auto const& choices) {
    fp4::require(fp4::check(choices.transform, x.size(is_columnwise ? -2 : -1)), "fp4_torch");
  });
  return asked;
}

/// The shape of x but for its last two axes.
std::vector<std::int64_t> leading(at::Tensor const& x, std::vector<std::int64_t> const& last) {
  auto shape = x.sizes().slice(0, static_cast<std::size_t>(x.dim() - 2)).vec();
  shape.insert(shape.end(), last.begin(), last.end());
  return shape;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> quantize(at::Tensor const& given, std::string const& name,
                                                        bool is_stochastic, bool is_2d, int hadamard,
                                                        bool is_columnwise, std::uint64_t seed, std::uint64_t call) {
  at::Tensor const x = matrices(given);
  auto const asked = request_of(x, name, is_stochastic, is_2d, hadamard, is_columnwise);
  std::int64_t const rows = x.size(is_columnwise ? -1 : -2), cols = x.size(is_columnwise ? -2 : -1);
  at::Tensor amax = at::zeros(leading(x, {}), at::kFloat), codes, scales;
  bool has_tensor_scale = false;
  fp4::recipe::with_scaling(asked.how.format, [&](auto format, auto const&) {
    using format_t = decltype(format);
    has_tensor_scale = format_t::has_tensor_scale;
    codes = at::empty(leading(x, {rows, format_t::row_bytes(cols)}), at::kByte);
    scales = at::empty(leading(x, {rows, format_t::has_block_scale ? format_t::blocks(cols) : 0}), at::kByte);
  });
  auto const low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  std::vector<std::uint32_t> random;
  for (std::int64_t i = 0; i < amax.numel(); ++i) {
    random.insert(random.end(), {low(seed), low(seed >> 32), low(call), low(call >> 32)});
  }
  std::vector<std::int32_t> const whole(random.size(), 0);
  with_type(x, [&](auto* type) {
    auto const values = batch_of<std::remove_pointer_t<decltype(type)> const>(x);
    if (has_tensor_scale) { binding::amax(values, asked, amax.data_ptr<float>()); }
    binding::quantize(values, amax.data_ptr<float>(), random.data(), whole.data(), asked,
                      codes.data_ptr<std::uint8_t>(), scales.data_ptr<std::uint8_t>());
  });
  return {codes, scales, amax};
}

at::Tensor dequantize(at::Tensor const& codes, at::Tensor const& scales, at::Tensor const& amax, std::int64_t cols,
                      std::string const& name, at::ScalarType type) {
  at::Tensor const c = matrices(codes), s = scales.contiguous(), a = amax.contiguous();
  at::Tensor out = at::empty(leading(c, {c.size(-2), cols}), type);
  fp4::recipe::with_scaling(number_of(name), [&](auto format, auto const&) {
    using format_t = decltype(format);
    std::int64_t const rows = a.numel() * c.size(-2);
    bool const fits = cols >= 0 && c.size(-1) == format_t::row_bytes(cols) && c.numel() == rows * c.size(-1) &&
                      s.numel() == (format_t::has_block_scale ? rows * format_t::blocks(cols) : 0);
    TORCH_CHECK_VALUE(
        fits && c.scalar_type() == at::kByte && s.scalar_type() == at::kByte && a.scalar_type() == at::kFloat,
        "fp4_torch.dequantize: codes, scales and amax must be those of quantize for ", cols, " columns");
  });
  with_type(out, [&](auto* value) {
    auto values = batch_of<std::remove_pointer_t<decltype(value)>>(out);
    binding::dequantize(number_of(name), c.data_ptr<std::uint8_t>(), s.data_ptr<std::uint8_t>(), a.data_ptr<float>(),
                        values);
  });
  return out;
}

at::Tensor hadamard(at::Tensor const& given, int size, bool to_bfloat16, bool is_inverse) {
  at::Tensor const x = matrices(given);
  bool const is_size = size == 16 || size == 32 || size == 64 || size == 128 || size == 256;
  TORCH_CHECK_VALUE(is_size, "fp4_torch.hadamard: a Hadamard size is 16, 32, 64, 128 or 256 (got ", size, ")");
  TORCH_CHECK_VALUE(x.size(-1) % size == 0,
                    "fp4_torch.hadamard: ", fp4::rule_of(fp4::errc::hadamard_size_does_not_divide), " (got ",
                    x.size(-1), ", bound ", size, ")");
  at::Tensor out = at::empty(x.sizes(), at::kFloat);
  with_type(x, [&](auto* type) {
    binding::hadamard(batch_of<std::remove_pointer_t<decltype(type)> const>(x), size, to_bfloat16, is_inverse,
                      out.data_ptr<float>());
  });
  return out;
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  namespace py = pybind11;
  module.def("quantize", &quantize, "codes, scales and amax of [..., rows, cols] values; every matrix has its own amax",
             py::arg("x"), py::arg("number") = "nvfp4", py::arg("is_stochastic") = false, py::arg("is_2d") = false,
             py::arg("hadamard") = 0, py::arg("is_columnwise") = false, py::arg("seed") = 0, py::arg("call") = 0);
  module.def("dequantize", &dequantize, "the values of quantize's results, [..., rows, cols]", py::arg("codes"),
             py::arg("scales"), py::arg("amax"), py::arg("cols"), py::arg("number") = "nvfp4",
             py::arg("dtype") = at::kFloat);
  module.def("hadamard", &hadamard, "random Hadamard transform along the last axis", py::arg("x"), py::arg("size") = 16,
             py::arg("to_bfloat16") = false, py::arg("is_inverse") = false);
}
