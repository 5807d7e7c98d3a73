// SPDX-License-Identifier: Apache-2.0
// What Python loads: four handlers for XLA, and two functions that it calls through ctypes while tracing.

#include <exception>
#include <string>

#include "operations.hpp"
#include "xla/ffi/api/ffi.h"

namespace binding {
FP4_BINDING_OPERATIONS(extern, float)
FP4_BINDING_OPERATIONS(extern, fp4::bfloat16)
FP4_BINDING_OPERATIONS(extern, fp4::float16)
}  // namespace binding

namespace fp4_jax {
namespace {

using binding::batch;
using binding::request;

namespace ffi = xla::ffi;
namespace recipe = fp4::recipe;

/// The last two dimensions are a matrix, those before them a batch.
template <class T>
batch<T> batch_of(ffi::AnyBuffer const& buffer) {
  auto const dims = buffer.dimensions();
  std::int64_t count = 1;
  for (std::size_t i = 0; i + 2 < dims.size(); ++i) { count *= dims[i]; }
  return {static_cast<T*>(buffer.untyped_data()), count, dims[dims.size() - 2], dims[dims.size() - 1]};
}

/// Calls work with a null pointer of the buffer's value type; Python lets no other through.
template <class Work>
ffi::Error with_type(ffi::AnyBuffer const& values, Work const& work) {
  try {
    switch (values.element_type()) {
      case ffi::DataType::F32: work(static_cast<float*>(nullptr)); break;
      case ffi::DataType::BF16: work(static_cast<fp4::bfloat16*>(nullptr)); break;
      case ffi::DataType::F16: work(static_cast<fp4::float16*>(nullptr)); break;
      default: return ffi::Error::InvalidArgument("values must be float32, bfloat16 or float16");
    }
  } catch (std::exception const& error) { return ffi::Error::InvalidArgument(error.what()); }
  return ffi::Error::Success();
}

request request_of(std::int64_t format, bool is_stochastic, bool is_2d, std::int64_t hadamard_size, bool to_bfloat16,
                   bool is_columnwise, std::int64_t which) {
  return {{static_cast<recipe::number>(format), is_stochastic, is_2d, static_cast<int>(hadamard_size), to_bfloat16},
          is_columnwise,
          static_cast<recipe::matrix>(which)};
}

ffi::Error amax_call(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> largest, std::int64_t format, bool is_stochastic,
                     bool is_2d, std::int64_t hadamard_size, bool to_bfloat16, bool is_columnwise, std::int64_t which) {
  return with_type(x, [&](auto* type) {
    using value = std::remove_pointer_t<decltype(type)>;
    binding::amax<value>(batch_of<value const>(x),
                         request_of(format, is_stochastic, is_2d, hadamard_size, to_bfloat16, is_columnwise, which),
                         static_cast<float*>(largest->untyped_data()));
  });
}

ffi::Error quantize_call(ffi::AnyBuffer x, ffi::AnyBuffer amaxes, ffi::AnyBuffer random, ffi::AnyBuffer place,
                         ffi::Result<ffi::AnyBuffer> codes, ffi::Result<ffi::AnyBuffer> scales, std::int64_t format,
                         bool is_stochastic, bool is_2d, std::int64_t hadamard_size, bool to_bfloat16,
                         bool is_columnwise, std::int64_t which) {
  return with_type(x, [&](auto* type) {
    using value = std::remove_pointer_t<decltype(type)>;
    binding::quantize<value>(batch_of<value const>(x), static_cast<float const*>(amaxes.untyped_data()),
                             static_cast<std::uint32_t const*>(random.untyped_data()),
                             static_cast<std::int32_t const*>(place.untyped_data()),
                             request_of(format, is_stochastic, is_2d, hadamard_size, to_bfloat16, is_columnwise, which),
                             static_cast<std::uint8_t*>(codes->untyped_data()),
                             static_cast<std::uint8_t*>(scales->untyped_data()));
  });
}

ffi::Error dequantize_call(ffi::AnyBuffer codes, ffi::AnyBuffer scales, ffi::AnyBuffer amaxes,
                           ffi::Result<ffi::AnyBuffer> out, std::int64_t format) {
  return with_type(*out, [&](auto* type) {
    binding::dequantize(static_cast<recipe::number>(format), static_cast<std::uint8_t const*>(codes.untyped_data()),
                        static_cast<std::uint8_t const*>(scales.untyped_data()),
                        static_cast<float const*>(amaxes.untyped_data()),
                        batch_of<std::remove_pointer_t<decltype(type)>>(*out));
  });
}

ffi::Error hadamard_call(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> out, std::int64_t size, bool to_bfloat16,
                         bool is_inverse) {
  return with_type(x, [&](auto* type) {
    using value = std::remove_pointer_t<decltype(type)>;
    binding::hadamard<value>(batch_of<value const>(x), size, to_bfloat16, is_inverse,
                             static_cast<float*>(out->untyped_data()));
  });
}

/// The attributes of a request, in the order of request_of.
template <class Binding>
auto with_request(Binding binding) {
  return std::move(binding)
      .template Attr<std::int64_t>("format")
      .template Attr<bool>("is_stochastic")
      .template Attr<bool>("is_2d")
      .template Attr<std::int64_t>("hadamard")
      .template Attr<bool>("to_bfloat16")
      .template Attr<bool>("is_columnwise")
      .template Attr<std::int64_t>("matrix");
}

recipe::table const* const tables[] = {&recipe::te_nvfp4, &recipe::te_nvfp4_no_rht, &recipe::fp8, &recipe::mxfp8,
                                       &recipe::bf16};

}  // namespace
}  // namespace fp4_jax

#define FP4_JAX_EXPORT extern "C" __attribute__((visibility("default")))

FP4_JAX_EXPORT XLA_FFI_Error* fp4_jax_amax(XLA_FFI_CallFrame* frame) {
  using namespace fp4_jax;
  static auto const handler =
      with_request(ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>()).To(amax_call).release();
  return handler->Call(frame);
}

FP4_JAX_EXPORT XLA_FFI_Error* fp4_jax_quantize(XLA_FFI_CallFrame* frame) {
  using namespace fp4_jax;
  static auto const handler = with_request(ffi::Ffi::Bind()
                                               .Arg<ffi::AnyBuffer>()
                                               .Arg<ffi::AnyBuffer>()
                                               .Arg<ffi::AnyBuffer>()
                                               .Arg<ffi::AnyBuffer>()
                                               .Ret<ffi::AnyBuffer>()
                                               .Ret<ffi::AnyBuffer>())
                                  .To(quantize_call)
                                  .release();
  return handler->Call(frame);
}

FP4_JAX_EXPORT XLA_FFI_Error* fp4_jax_dequantize(XLA_FFI_CallFrame* frame) {
  using namespace fp4_jax;
  static auto const handler = ffi::Ffi::Bind()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<std::int64_t>("format")
                                  .To(dequantize_call)
                                  .release();
  return handler->Call(frame);
}

FP4_JAX_EXPORT XLA_FFI_Error* fp4_jax_hadamard(XLA_FFI_CallFrame* frame) {
  using namespace fp4_jax;
  static auto const handler = ffi::Ffi::Bind()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<std::int64_t>("size")
                                  .Attr<bool>("to_bfloat16")
                                  .Attr<bool>("is_inverse")
                                  .To(hadamard_call)
                                  .release();
  return handler->Call(frame);
}

/// A row of a named recipe: matrix 0 to 2 (activation, weight, gradient), in the order of recipe::operand.
/// \returns false where there is no such recipe.
FP4_JAX_EXPORT bool fp4_jax_recipe(char const* name, int which, bool is_columnwise, std::int32_t* row) {
  using namespace fp4_jax;
  for (recipe::table const* table : tables) {
    if (std::string(table->name) == name) {
      auto const& both = table->of(static_cast<recipe::matrix>(which));
      recipe::operand const& how = is_columnwise ? both.columnwise : both.rowwise;
      std::int32_t const values[] = {static_cast<std::int32_t>(how.format), how.is_stochastic, how.is_2d, how.hadamard,
                                     how.to_bfloat16};
      std::copy(std::begin(values), std::end(values), row);
      return true;
    }
  }
  return false;
}

/// Block size of a number's format, bits of an element in memory, and whether it has block scales and a tensor scale.
FP4_JAX_EXPORT void fp4_jax_format(std::int32_t which, std::int32_t* facts) {
  using namespace fp4_jax;
  recipe::with_scaling(static_cast<recipe::number>(which), [&](auto format, auto const&) {
    using format_t = decltype(format);
    std::int32_t const values[] = {format_t::block_size, format_t::storage_bits, format_t::has_block_scale,
                                   format_t::has_tensor_scale};
    std::copy(std::begin(values), std::end(values), facts);
  });
}

/// The sentence of the precondition that [rows, cols] values break when quantized as `row` says; empty for none.
FP4_JAX_EXPORT char const* fp4_jax_check(std::int32_t const* row, bool is_columnwise, std::int64_t rows,
                                         std::int64_t cols) {
  using namespace fp4_jax;
  thread_local std::string sentence;
  auto const asked = request_of(row[0], row[1] != 0, row[2] != 0, row[3], row[4] != 0, is_columnwise, 0);
  auto found = check(asked.how);
  if (found.ok()) {
    recipe::with_choices(asked.how, is_columnwise, asked.which, {}, {}, [&](auto, auto const& choices) {
      found = fp4::check(choices.transform, is_columnwise ? rows : cols);
    });
  }
  sentence = found.ok() ? "" : fp4::precondition_error(found, "fp4_jax").what();
  return sentence.c_str();
}
