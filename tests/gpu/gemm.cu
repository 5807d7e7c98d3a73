// SPDX-License-Identifier: Apache-2.0
// The GEMMs of examples/gemm: against reference::matmul, against each other, and what they cost.
#include "../../examples/gemm/model.hpp"
#include "../../examples/gemm/tiled.cuh"

#include <fp4/cpu/pack.hpp>

#include <array>
#include <cmath>
#include <random>

#include "blackwell.hpp"
#include "counts.hpp"

namespace {

using namespace fp4;
using program::on_device;
using octets = std::vector<std::uint8_t>;
using small_tiling = gemm::tiling<64, 32, 32, 32, 3>;

/// A quantized matrix, and its copies in fragment order on the host and on the device.
template <class Codes>
class operand {
 public:
  operand(std::int64_t rows, std::int64_t cols)
      : rows(rows),
        cols(cols),
        codes(size(rows * nvfp4::row_bytes(cols))),
        scales(size(rows * nvfp4::blocks(cols))),
        packed_codes_(size(Codes::bytes(rows, cols))),
        packed_scales_(size(tiled_32x4_scales::bytes(rows, nvfp4::blocks(cols)))),
        device_codes_(packed_codes_.size() * 16),
        device_scales_(packed_scales_.size()) {}

  /// Any codes; scales are codes from `first` on, one of `count`.
  void fill(std::uint32_t seed, std::uint32_t first, std::uint32_t count) {
    std::mt19937 numbers(seed);
    for (auto& x : codes) { x = static_cast<std::uint8_t>(numbers()); }
    for (auto& x : scales) { x = static_cast<std::uint8_t>(first + numbers() % count); }
    pack();
  }
  void pack() {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(packed_codes_.data());
    auto const needed = static_cast<std::int64_t>(packed_codes_.size() * 16);
    cpu::pack(view(), packed_view<nvfp4, Codes, tiled_32x4_scales>(bytes, needed, packed_scales_.data(),
                                                                   as_size(packed_scales_), rows, cols));
    cudaMemcpy(device_codes_.data(), bytes, packed_codes_.size() * 16, cudaMemcpyHostToDevice);
    cudaMemcpy(device_scales_.data(), packed_scales_.data(), packed_scales_.size(), cudaMemcpyHostToDevice);
  }
  [[nodiscard]] quantized_view<nvfp4, linear_scales, std::uint8_t const> view() const {
    return {codes.data(), scales.data(), as_size(scales), rows, cols};
  }
  [[nodiscard]] gemm::operand<Codes> on_host() const {
    return {reinterpret_cast<std::uint8_t const*>(packed_codes_.data()),
            static_cast<std::int64_t>(packed_codes_.size() * 16),
            packed_scales_.data(),
            as_size(packed_scales_),
            rows,
            cols};
  }
  [[nodiscard]] gemm::operand<Codes> on_device() {
    auto x = on_host();
    x.codes = device_codes_.data(), x.scales = device_scales_.data();
    return x;
  }

  std::int64_t rows, cols;
  octets codes, scales;

 private:
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
  static std::int64_t as_size(octets const& x) { return static_cast<std::int64_t>(x.size()); }

  struct chunk_vector : std::vector<uint4> {
    explicit chunk_vector(std::size_t bytes) : std::vector<uint4>(bytes / 16) {}
  } packed_codes_;
  octets packed_scales_;
  program::on_device<std::uint8_t> device_codes_, device_scales_;
};
using operand_a = operand<fragment_codes_a>;
using operand_b = operand<fragment_codes_b>;

/// D of a call, [m, n], between guards, rows `stride` apart.
class result {
 public:
  result(std::int64_t m, std::int64_t n, std::int64_t stride)
      : m_(m),
        n_(n),
        stride_(stride),
        memory_(std::vector<bfloat16>(static_cast<std::size_t>(m * stride + 16), guard)) {}
  matrix_view<bfloat16> view() { return {memory_.data() + 8, m_, n_, stride_}; }
  /// The bits of D, row by row; nothing where anything beside it was written.
  [[nodiscard]] std::vector<int> bits() const {
    std::vector<int> found;
    auto const all = memory_.back();
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(all.size()); ++i) {
      std::int64_t const at = i - 8;
      bool const inside = at >= 0 && at < m_ * stride_ && at % stride_ < n_;
      int const x = all[static_cast<std::size_t>(i)].bits;
      if (!inside && x != guard.bits) { return {}; }
      if (inside) { found.push_back(x); }
    }
    return found;
  }

 private:
  static constexpr bfloat16 guard{0x7FC5};
  std::int64_t m_, n_, stride_;
  on_device<bfloat16> memory_;
};

struct problem {
  operand_a a;
  operand_b b;
  tensor_scale scale_a = tensor_scale::from_decode(0.75f), scale_b = tensor_scale::from_decode(0.0123f);

  problem(std::int64_t m, std::int64_t n, std::int64_t k) : a(m, k), b(n, k) {}
  [[nodiscard]] float alpha() const { return scale_a.decode() * scale_b.decode(); }
  gemm::product on(matrix_view<bfloat16> d) { return {a.on_device(), b.on_device(), scale_a, scale_b, d}; }

  /// Runs `multiply(product)` on the device.
  template <class Multiply>
  std::vector<int> run(Multiply const& multiply, std::int64_t gap = 0) {
    result d(a.rows, b.rows, b.rows + gap);
    multiply(on(d.view()));
    CUDA(cudaDeviceSynchronize());
    return d.bits();
  }
  std::vector<int> readable(std::int64_t gap = 0) {
    return run([](gemm::product const& p) { gemm::multiply_readable_async(p); }, gap);
  }
  template <class Tiling>
  std::vector<int> tiled(gemm::schedule how = {}, std::int64_t gap = 0) {
    on_device<float> partial(static_cast<std::size_t>(how.slices * a.rows * b.rows));
    how.partial = how.slices > 1 ? partial.data() : nullptr;
    return run([&](gemm::product const& p) { gemm::multiply_tiled_async<Tiling>(p, how); }, gap);
  }
  [[nodiscard]] std::vector<int> wanted() const {
    std::vector<bfloat16> d(static_cast<std::size_t>(a.rows * b.rows));
    reference::matmul(a.view(), b.view(), alpha(), matrix_view<bfloat16>(d.data(), a.rows, b.rows));
    return bits_of(d);
  }
  [[nodiscard]] std::vector<int> in_model() const {
    std::vector<bfloat16> d(static_cast<std::size_t>(a.rows * b.rows));
    gemm::multiply_in_model(a.on_host(), b.on_host(), alpha(), {d.data(), a.rows, b.rows});
    return bits_of(d);
  }

 private:
  static std::vector<int> bits_of(std::vector<bfloat16> const& d) {
    std::vector<int> bits;
    for (auto const x : d) { bits.push_back(x.bits); }
    return bits;
  }
};

/// Scales of 1 to 1.875: products are multiples of 2^-8 up to 126.5, and 512 of them below 2^16. Every sum is exact in
/// fp32, whatever its order.
void fill_exactly(problem& p) { p.a.fill(1, 0x38, 8), p.b.fill(2, 0x38, 8); }

}  // namespace

CASE(ragged_shapes_equal_the_reference) {
  for (auto const& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 16}, {17, 9, 80}, {65, 33, 512}, {150, 290, 176}}) {
    problem p(m, n, k);
    fill_exactly(p);
    auto const wanted = p.wanted();
    CHECK(p.readable() == wanted);
    CHECK(p.readable(3) == wanted);
    CHECK(p.tiled<gemm::large_tiling>() == wanted);
    CHECK(p.tiled<small_tiling>({}, 5) == wanted);
  }
}

CASE(tile_orders_and_slices_of_k_change_no_bit) {
  problem p(200, 70, 512);
  fill_exactly(p);
  auto const wanted = p.wanted();
  for (std::int64_t const band : {1, 2, 3, 100}) { CHECK(p.tiled<small_tiling>({band, 1, nullptr}) == wanted); }
  for (std::int64_t const slices : {2, 3, 4, 11}) { CHECK(p.tiled<small_tiling>({8, slices, nullptr}) == wanted); }
}

CASE(every_slice_and_every_block_of_rows_takes_its_own_scales) {
  for (std::int64_t const k : {64, 256}) {
    problem p(256, 40, k);
    p.scale_a = p.scale_b = tensor_scale::from_decode(1.0f);
    std::fill(p.a.codes.begin(), p.a.codes.end(), 0x22), std::fill(p.b.codes.begin(), p.b.codes.end(), 0x22);
    std::fill(p.b.scales.begin(), p.b.scales.end(), 0x38);
    for (std::size_t i = 0; i < p.a.scales.size(); ++i) {  // 1, 2, 4, 8, and twice as much from row 128 on
      p.a.scales[i] = static_cast<std::uint8_t>(0x38 + 8 * (i % 4 + (i >= p.a.scales.size() / 2 ? 1 : 0)));
    }
    p.a.pack(), p.b.pack();
    std::vector<int> wanted;
    for (int i = 0; i < 256 * 40; ++i) {
      wanted.push_back(bfloat16::from_float(240.0f * static_cast<float>(k / 64) * (i < 128 * 40 ? 1 : 2)).bits);
    }
    CHECK(p.wanted() == wanted);
    CHECK(p.readable() == wanted);
    for (std::int64_t const slices : {1, 2, 4}) {
      for (std::int64_t const band : {1, 8}) { CHECK(p.tiled<small_tiling>({band, slices, nullptr}) == wanted); }
    }
  }
}

// Where sums are not exact, each instruction may round its result to fp32: |D - exact| is at most steps * 2^-24 * S
// and 2^-8 |exact| for the bfloat16 of it, S being the sum of the products' magnitudes. Where an instruction rounds
// once, as in the interpreter and the model, all of them agree to the bit.
CASE(any_scales_stay_within_the_bound) {
  problem p(40, 50, 640);
  p.a.fill(3, 0, 0x7F), p.b.fill(4, 0, 0x7F);
  auto const tiled = p.tiled<small_tiling>();
  CHECK(tiled == p.readable());
  CHECK(tiled == p.tiled<gemm::large_tiling>({1, 1, nullptr}));
  if (!test::emulated_target().empty()) { CHECK(tiled == p.in_model()); }

  std::vector<float> exact(tiled.size()), magnitudes(tiled.size());
  reference::matmul(p.a.view(), p.b.view(), p.alpha(), matrix_view<float>(exact.data(), p.a.rows, p.b.rows));
  for (auto* const codes : {&p.a.codes, &p.b.codes}) {
    for (auto& x : *codes) { x &= 0x77; }
  }
  reference::matmul(p.a.view(), p.b.view(), p.alpha(), matrix_view<float>(magnitudes.data(), p.a.rows, p.b.rows));
  int outside = 0, inexact = 0;
  for (std::size_t i = 0; i < tiled.size(); ++i) {
    double const found = bfloat16{static_cast<std::uint16_t>(tiled[i])}.to_float(), wanted = exact[i];
    double const bound = 10 * 0x1p-24 * magnitudes[i] + 0x1p-8 * std::fabs(wanted);
    outside += !(std::fabs(found - wanted) <= bound);
    inexact += tiled[i] != bfloat16::from_float(exact[i]).bits;
  }
  CHECK_EQUAL(outside, 0);
  std::printf("%d of %zu results differ from the exact ones, rounded\n", inexact, tiled.size());
}

CASE(tensor_scales_in_device_memory) {
  problem p(32, 32, 64);
  fill_exactly(p);
  auto const wanted = [&] {
    p.scale_a = tensor_scale::from_amax(1000.0f), p.scale_b = tensor_scale::from_encode(3.0f);
    return p.wanted();
  }();
  on_device<float> numbers(std::vector<float>{1000.0f, 3.0f});
  auto const with_memory = [&](gemm::product x) {
    x.scale_a = gpu::scale_argument::from_amax(numbers.data());
    x.scale_b = gpu::scale_argument::from_encode(numbers.data() + 1);
    return x;
  };
  CHECK(p.run([&](gemm::product const& x) { gemm::multiply_readable_async(with_memory(x)); }) == wanted);
  CHECK(p.run([&](gemm::product const& x) { gemm::multiply_tiled_async<small_tiling>(with_memory(x)); }) == wanted);
}

CASE(bad_products_are_refused) {
  problem p(32, 16, 64);
  fill_exactly(p);
  result d(32, 16, 16);
  auto const code_of = [](gemm::product const& x, gemm::schedule const& how = {}) {
    try {
      gemm::multiply_tiled_async<small_tiling>(x, how);
    } catch (precondition_error const& e) { return e.code(); } catch (std::invalid_argument const&) {
      return errc::too_large;
    }
    return errc::ok;
  };
  auto const good = p.on(d.view());
  auto bad = good;
  bad.b.cols = 48;
  CHECK(code_of(bad) == errc::shape_mismatch);
  bad = good, bad.d.rows = 31;
  CHECK(code_of(bad) == errc::shape_mismatch);
  bad = good, bad.a.code_bytes -= 1;
  CHECK(code_of(bad) == errc::code_buffer_too_small);
  bad = good, bad.b.codes += 8;
  CHECK(code_of(bad) == errc::misaligned_codes);
  bad = good, bad.a.scales += 4;
  CHECK(code_of(bad) == errc::misaligned_tensor);
  CHECK(code_of(good, {8, 2, nullptr}) == errc::null_data);
  CHECK(code_of(good, {0, 1, nullptr}) == errc::too_large);
  CHECK(code_of(good, {8, 0, nullptr}) == errc::too_large);
  CUDA(cudaDeviceSynchronize());
  CHECK(d.bits() == std::vector<int>(32 * 16, 0x7FC5));  // nothing was written
}

CASE(what_a_step_costs) {
  if (test::emulated_target().empty()) { return; }
  // The difference of two depths is the main loop alone.
  auto const cost = [](std::int64_t k) {
    problem p(128, 256, k);
    fill_exactly(p);
    return test::counts_of([&] { p.tiled<gemm::large_tiling>(); });
  };
  auto const shallow = cost(512), deep = cost(1024);
  double const flops = 2.0 * 128 * 256 * 512, multiplications = 128 / 16 * 256 / 8 * 512 / 64;
  long const read = deep.shared.read - shallow.shared.read, written = deep.shared.written - shallow.shared.written;
  CHECK_EQUAL(deep.shared.bank_conflicts, 0);
  CHECK_EQUAL(written, (128 + 256) * 36 * 8);  // each byte of a step once
  CHECK_EQUAL(read, 8 * 8 * (64 + 64) * 36);   // each of 8 warps reads its 64 rows and 64 columns
  CHECK_EQUAL(deep.global.read - shallow.global.read, written);
  CHECK_EQUAL(deep.of("mma") - shallow.of("mma"), static_cast<long>(32 * multiplications));
  std::printf("a flop takes %.5f bytes from shared memory and %.5f to it; an mma %.2f PTX instructions of a warp\n",
              read / flops, written / flops,
              (deep.thread_instructions - shallow.thread_instructions) / 32.0 / multiplications);
}

int main(int argc, char** argv) { return test::run_on(12, argc, argv); }
