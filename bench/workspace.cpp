// SPDX-License-Identifier: Apache-2.0
#include "workspace.hpp"

#include <cstring>
#include <fstream>
#include <new>
#include <random>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bench {

namespace {

constexpr std::size_t page = std::size_t{2} << 20;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

std::size_t size_of(std::int64_t values, double bytes_each) {
  return static_cast<std::size_t>(static_cast<double>(values) * bytes_each);
}

template <class T>
float amax_of(problem const& p) {
  return fp4::cpu::amax(p.input<T>());
}

}  // namespace

pages::pages(std::size_t bytes)
    : data_(::operator new (whole_pages(bytes), std::align_val_t{page})), bytes_(whole_pages(bytes)) {
#if defined(__linux__)
  static_cast<void>(madvise(data_, bytes_, MADV_HUGEPAGE));
#endif
  std::memset(data_, 0, bytes_);
}

pages::~pages() { ::operator delete (data_, std::align_val_t{page}); }

workspace::workspace(std::int64_t rows, std::int64_t cols)
    : fp32_(size_of(rows * cols, 4)),
      fp16_(size_of(rows * cols, 2)),
      bf16_(size_of(rows * cols, 2)),
      codes_(size_of(rows * cols, 0.5)),
      scales_(size_of(rows * cols, 0.0625)),
      new_codes_(size_of(rows * cols, 0.5)),
      new_scales_(size_of(rows * cols, 0.0625)),
      out_(size_of(rows * cols, 4)) {
  auto* const fp32 = fp32_.as<float>();
  auto* const fp16 = fp16_.as<fp4::float16>();
  auto* const bf16 = bf16_.as<fp4::bfloat16>();
  std::mt19937_64 engine(42);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    fp32[i] = normal(engine);
    fp16[i] = fp4::float16::from_float(fp32[i]);
    bf16[i] = fp4::bfloat16::from_float(fp32[i]);
  }
  whole_.rows = rows, whole_.cols = cols;
  whole_.fp32 = fp32, whole_.fp16 = fp16, whole_.bf16 = bf16;
  whole_.codes = codes_.as<std::uint8_t>(), whole_.scales = scales_.as<std::uint8_t>();
  whole_.new_codes = new_codes_.as<std::uint8_t>(), whole_.new_scales = new_scales_.as<std::uint8_t>();
  whole_.out = out_.as<float>();

  // Rounding to 16 bits may raise the largest value: take the largest of the three.
  for (float const amax : {amax_of<float>(whole_), amax_of<fp4::float16>(whole_), amax_of<fp4::bfloat16>(whole_)}) {
    whole_.amax = whole_.amax < amax ? amax : whole_.amax;
  }
  whole_.amax_hadamard_16 = fp4::cpu::amax(whole_.input<float>(), fp4::hadamard<16>{}) * 1.01f;
  whole_.amax_hadamard_128 = fp4::cpu::amax(whole_.input<float>(), fp4::hadamard<128>{}) * 1.01f;

  std::int64_t const blocks = rows * cols / fp4::nvfp4::block_size;
  fp4::quantized_view<fp4::nvfp4> const quantized(codes_.as<std::uint8_t>(), scales_.as<std::uint8_t>(), blocks, rows,
                                                  cols);
  fp4::quantize(whole_.input<float>(), quantized, fp4::tensor_scale::from_amax(whole_.amax));
}

problem workspace::sized(std::int64_t rows, std::int64_t cols) const noexcept {
  problem p = whole_;
  p.rows = rows, p.cols = cols;
  return p;
}

std::string compiler_name() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string line, model, family, number;
  auto const value = [&line] { return line.substr(line.find(':') + 2); };
  while (std::getline(info, line) && (model.empty() || number.empty())) {
    if (line.rfind("model name", 0) == 0) {
      model = value();
    } else if (line.rfind("cpu family", 0) == 0) {
      family = value();
    } else if (line.rfind("model\t", 0) == 0) {
      number = value();
    }
  }
  return model.empty() ? "unknown" : model + " (family " + family + ", model " + number + ")";
}

}  // namespace bench
