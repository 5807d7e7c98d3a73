// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Numbers that a kernel may read from device memory when it runs, so that a captured graph can be replayed with
/// others.

#include "../rounding/rounding.hpp"
#include "../scaling/tensor_scale.hpp"

namespace fp4::gpu {

/// The tensor scale of a call: known now, or one float in device memory that the kernel reads.
/// What lies there must be valid as tensor_scale::valid() says; nobody can check it before.
class scale_argument {
 public:
  scale_argument(tensor_scale scale) noexcept : scale_(scale) {}

  /// From an amax in device memory, what amax_async writes for instance.
  [[nodiscard]] static scale_argument from_amax(float const* amax) noexcept {
    return {tensor_scale::from_amax(0.0f), amax};
  }
  [[nodiscard]] static scale_argument from_encode(float const* factor) noexcept {
    return {tensor_scale::from_encode(1.0f), factor};
  }
  [[nodiscard]] static scale_argument from_decode(float const* factor) noexcept {
    return {tensor_scale::from_decode(1.0f), factor};
  }

  /// The scale, or where it lies in device memory one that stands for it.
  [[nodiscard]] tensor_scale on_host() const noexcept { return scale_; }
  /// The scale, read from memory if it lies there; number i of several.
  [[nodiscard]] __device__ tensor_scale read(int64_t i = 0) const noexcept {
    if (!in_memory_) { return scale_; }
    switch (scale_.made_from()) {
      case tensor_scale::source::amax: return tensor_scale::from_amax(value_[i]);
      case tensor_scale::source::encode: return tensor_scale::from_encode(value_[i]);
      default: return tensor_scale::from_decode(value_[i]);
    }
  }
  [[nodiscard]] bool is_null() const noexcept { return in_memory_ && value_ == nullptr; }
  [[nodiscard]] __host__ __device__ bool in_memory() const noexcept { return in_memory_; }

 private:
  scale_argument(tensor_scale scale, float const* value) noexcept : scale_(scale), value_(value), in_memory_(true) {}

  tensor_scale scale_;
  float const* value_ = nullptr;
  bool in_memory_ = false;
};

/// One tensor scale for each row of the result (per-token, or for each column where it is quantized column-wise): as
/// many floats in device memory, read when the kernel runs. Each must be valid as tensor_scale::valid() says.
class row_scales {
 public:
  /// What row_amaxes_async writes, for instance.
  [[nodiscard]] static row_scales from_amax(float const* amaxes) noexcept {
    return row_scales(scale_argument::from_amax(amaxes));
  }
  [[nodiscard]] static row_scales from_encode(float const* factors) noexcept {
    return row_scales(scale_argument::from_encode(factors));
  }
  [[nodiscard]] static row_scales from_decode(float const* factors) noexcept {
    return row_scales(scale_argument::from_decode(factors));
  }

  [[nodiscard]] scale_argument first() const noexcept { return first_; }

 private:
  explicit row_scales(scale_argument first) noexcept : first_(first) {}
  scale_argument first_;
};

/// Seed and stream of stochastic rounding in device memory: what is not null replaces the number in the choices.
/// `stream` must be below 2^63.
struct random_argument {
  uint64_t const* seed = nullptr;
  uint64_t const* stream = nullptr;

  __device__ stochastic read(stochastic how) const noexcept {
    if (seed != nullptr) { how.seed = *seed; }
    if (stream != nullptr) { how.stream = *stream; }
    return how;
  }
};

}  // namespace fp4::gpu
