// SPDX-License-Identifier: Apache-2.0
// Layouts on the device: gpu::pack_async, unpack_async and relayout_scales_async write the CPU's bytes, each of them and
// no other, and move no more than they must.
#include <fp4/cpu/pack.hpp>
#include <fp4/gpu/pack.cuh>

#include <array>
#include <tuple>

#include "counts.hpp"
#include "support/data.hpp"

namespace {

using namespace fp4;
using octets = std::vector<std::uint8_t>;
using program::on_device;

template <class Body, class... Types>
void each(std::tuple<Types...>, Body const& body) {
  (body(Types{}), ...);
}
using scale_layouts = std::tuple<linear_scales, tiled_128x4_scales, tiled_8x4_scales, tiled_32x4_scales>;

octets random_bytes(std::int64_t size, std::uint64_t seed) {
  test::random_numbers numbers(seed);
  octets bytes(static_cast<std::size_t>(size));
  for (auto& x : bytes) { x = static_cast<std::uint8_t>(numbers.next()); }
  return bytes;
}

/// Memory on both sides with the same bytes at first, `shift` bytes past a multiple of 256, and room behind.
class memory {
 public:
  memory(std::int64_t size, int shift, std::uint64_t seed)
      : size(size), shift_(shift), host_(random_bytes(size + shift + 32, seed)), device_(host_.size()) {
    cudaMemcpy(device_.data(), host_.data(), host_.size(), cudaMemcpyHostToDevice);
  }
  std::uint8_t* host() { return host_.data() + shift_; }
  std::uint8_t* device() { return device_.data() + shift_; }
  /// Nothing differs, before, in and behind the memory.
  bool same() { return device_.back() == host_; }

  std::int64_t size;

 private:
  int shift_;
  octets host_;
  on_device<std::uint8_t> device_;
};

template <class From, class To>
std::string relayout_breaks(std::int64_t rows, std::int64_t blocks, int shift_from, int shift_to) {
  memory from(From::bytes(rows, blocks), shift_from, 1), to(To::bytes(rows, blocks), shift_to, 2);
  cpu::relayout_scales<From, To>(from.host(), from.size, to.host(), to.size, rows, blocks);
  gpu::relayout_scales_async<From, To>(from.device(), from.size, to.device(), to.size, rows, blocks);
  if (cudaDeviceSynchronize() == cudaSuccess && to.same() && from.same()) { return ""; }
  return std::to_string(rows) + " x " + std::to_string(blocks) + ", shifts " + std::to_string(shift_from) + ", " +
         std::to_string(shift_to);
}

/// A matrix in rows and in tiles, on both sides.
template <class Codes, class RowScales, class TileScales>
struct matrices {
  std::int64_t rows, cols, stride;
  memory row_codes, row_scales, tile_codes, tile_scales;

  matrices(std::int64_t rows_, std::int64_t cols_, int gap, int shift)
      : rows(rows_),
        cols(cols_),
        stride(nvfp4::row_bytes(cols) + gap),
        row_codes(rows * stride, shift, 3),
        row_scales(RowScales::bytes(rows, nvfp4::blocks(cols)), shift, 4),
        tile_codes(Codes::bytes(rows, cols), 0, 5),
        tile_scales(TileScales::bytes(rows, nvfp4::blocks(cols)), shift, 6) {}
  quantized_view<nvfp4, RowScales> in_rows(bool host) {
    quantized_view<nvfp4, RowScales> q(host ? row_codes.host() : row_codes.device(),
                                       host ? row_scales.host() : row_scales.device(), row_scales.size, rows, cols);
    q.code_stride = stride;
    return q;
  }
  packed_view<nvfp4, Codes, TileScales> in_tiles(bool host) {
    return {host ? tile_codes.host() : tile_codes.device(),
            tile_codes.size,
            host ? tile_scales.host() : tile_scales.device(),
            tile_scales.size,
            rows,
            cols};
  }
  bool same() { return row_codes.same() && row_scales.same() && tile_codes.same() && tile_scales.same(); }
};

template <class Codes, class RowScales, class TileScales>
std::string pack_breaks(std::int64_t rows, std::int64_t cols, int gap, int shift) {
  matrices<Codes, RowScales, TileScales> there(rows, cols, gap, shift), back(rows, cols, gap, shift);
  cpu::pack(there.in_rows(true), there.in_tiles(true));
  gpu::pack_async(there.in_rows(false), there.in_tiles(false));
  cpu::unpack(back.in_tiles(true), back.in_rows(true));
  gpu::unpack_async(back.in_tiles(false), back.in_rows(false));
  bool const ran = cudaDeviceSynchronize() == cudaSuccess;
  if (ran && there.same() && back.same()) { return ""; }
  return std::to_string(rows) + " x " + std::to_string(cols) + ", gap " + std::to_string(gap) + ", shift " +
         std::to_string(shift) + (there.same() ? ": back" : ": there");
}

template <class Codes, class RowScales, class TileScales>
void check_pack() {
  for (auto const& [rows, cols] : {std::array<std::int64_t, 2>{1, 1}, {17, 79}, {130, 272}, {33, 1104}}) {
    for (auto const& [gap, shift] : {std::array<int, 2>{0, 0}, {4, 4}, {1, 3}}) {
      std::string const broken = pack_breaks<Codes, RowScales, TileScales>(rows, cols, gap, shift);
      program::check(broken.empty(), broken.c_str(), __FILE__, __LINE__);
    }
  }
}

/// The least that a call must read and write: codes and scales, padding of what is written included.
template <class Matrices>
void check_traffic(char const* what) {
  Matrices x(256, 2048, 0, 0);
  std::int64_t const in_rows = x.row_codes.size + x.row_scales.size, in_tiles = x.tile_codes.size + x.tile_scales.size;
  auto const there = test::counts_of([&] { gpu::pack_async(x.in_rows(false), x.in_tiles(false)); });
  auto const back = test::counts_of([&] { gpu::unpack_async(x.in_tiles(false), x.in_rows(false)); });
  CHECK_EQUAL(32 * there.global.sectors_read, in_rows);
  CHECK_EQUAL(32 * there.global.sectors_written, in_tiles);
  CHECK_EQUAL(32 * back.global.sectors_read, in_tiles);
  CHECK_EQUAL(32 * back.global.sectors_written, in_rows);
  CHECK_EQUAL(there.shared.read + there.shared.written + back.shared.read + back.shared.written, 0);
  double const units = static_cast<double>(x.row_codes.size) / 16;
  std::printf("%s: bytes moved %.4f of the least, %.1f instructions for 16 bytes of codes there, %.1f back\n", what,
              32.0 * static_cast<double>(there.global.sectors_read + there.global.sectors_written) /
                  static_cast<double>(in_rows + in_tiles),
              static_cast<double>(there.thread_instructions) / units,
              static_cast<double>(back.thread_instructions) / units);
}

}  // namespace

CASE(scales_between_any_two_layouts) {
  each(scale_layouts{}, [](auto from) {
    each(scale_layouts{}, [](auto to) {
      for (auto const& [rows, blocks] :
           {std::array<std::int64_t, 2>{1, 1}, {7, 5}, {128, 32}, {130, 20}, {300, 67}, {129, 260}}) {
        for (auto const& [shift_from, shift_to] : {std::array<int, 2>{0, 0}, {4, 4}, {0, 1}, {2, 0}}) {
          std::string const broken = relayout_breaks<decltype(from), decltype(to)>(rows, blocks, shift_from, shift_to);
          program::check(broken.empty(), broken.c_str(), __FILE__, __LINE__);
        }
      }
    });
  });
}

CASE(codes_and_scales_to_fragment_order_and_back) {
  check_pack<fragment_codes_a, linear_scales, tiled_32x4_scales>();
  check_pack<fragment_codes_b, tiled_128x4_scales, tiled_32x4_scales>();
}
CASE(codes_and_scales_to_tcgen05_tiles_and_back) {
  check_pack<tcgen05_codes<swizzle::none>, linear_scales, tiled_128x4_scales>();
  check_pack<tcgen05_codes<swizzle::bytes_32>, linear_scales, tiled_128x4_scales>();
  check_pack<tcgen05_codes<swizzle::bytes_64>, linear_scales, tiled_128x4_scales>();
  check_pack<tcgen05_codes<swizzle::bytes_128>, linear_scales, tiled_128x4_scales>();
  check_pack<tcgen05_codes<swizzle::none, 8, 96>, linear_scales, tiled_128x4_scales>();
  check_pack<tcgen05_codes<swizzle::bytes_64, 8, 256>, linear_scales, tiled_128x4_scales>();
}

CASE(no_more_than_the_least_is_moved) {
  if (test::emulated_target().empty()) { return; }
  check_traffic<matrices<fragment_codes_a, linear_scales, tiled_32x4_scales>>("A");
  check_traffic<matrices<fragment_codes_b, tiled_128x4_scales, tiled_32x4_scales>>("B");
  check_traffic<matrices<tcgen05_codes<swizzle::none>, linear_scales, tiled_128x4_scales>>("no swizzle");
  check_traffic<matrices<tcgen05_codes<swizzle::bytes_32>, linear_scales, tiled_128x4_scales>>("32 bytes");
  check_traffic<matrices<tcgen05_codes<swizzle::bytes_64>, linear_scales, tiled_128x4_scales>>("64 bytes");
  check_traffic<matrices<tcgen05_codes<swizzle::bytes_128>, linear_scales, tiled_128x4_scales>>("128 bytes");
  each(scale_layouts{}, [](auto from) {
    each(scale_layouts{}, [](auto to) {
      memory in(256 * 128, 0, 1), out(256 * 128, 0, 2);
      auto const counts = test::counts_of([&] {
        gpu::relayout_scales_async<decltype(from), decltype(to)>(in.device(), in.size, out.device(), out.size, 256,
                                                                 128);
      });
      CHECK_EQUAL(32 * counts.global.sectors_read, in.size);
      CHECK_EQUAL(32 * counts.global.sectors_written, out.size);
      CHECK_EQUAL(counts.shared.read + counts.shared.written, 0);
    });
  });
}

CASE(bad_calls_are_refused_and_nothing_is_enqueued) {
  matrices<fragment_codes_a, linear_scales, tiled_32x4_scales> x(17, 80, 0, 0);
  auto const code_of = [](auto const& call) {
    try {
      call();
    } catch (precondition_error const& e) { return e.code(); }
    return errc::ok;
  };
  auto const packing = [&](auto const& rows, auto const& tiles) {
    errc const there = code_of([&] { gpu::pack_async(rows, tiles); });
    errc const back = code_of([&] { gpu::unpack_async(tiles, rows); });
    return there == back ? there : errc::ok;
  };
  auto rows = x.in_rows(false);
  auto tiles = x.in_tiles(false);
  tiles.code_bytes -= 1;
  CHECK(packing(rows, tiles) == errc::code_buffer_too_small);
  tiles = x.in_tiles(false), tiles.codes += 8;
  CHECK(packing(rows, tiles) == errc::misaligned_codes);
  tiles = x.in_tiles(false), tiles.scale_bytes -= 1;
  CHECK(packing(rows, tiles) == errc::scale_buffer_too_small);
  tiles = x.in_tiles(false), tiles.cols = 64;
  CHECK(packing(rows, tiles) == errc::shape_mismatch);
  tiles = x.in_tiles(false), rows.code_stride = 39;
  CHECK(packing(rows, tiles) == errc::code_stride_too_small);
  rows = x.in_rows(false), rows.codes = tiles.codes + 16;
  CHECK(packing(rows, tiles) == errc::overlapping_output);
  rows = x.in_rows(false), rows.scales = nullptr;
  CHECK(packing(rows, tiles) == errc::null_data);

  auto const relayout = [&](std::int64_t from_bytes, std::int64_t to_bytes, std::uint8_t* to, std::int64_t n) {
    return code_of([&] {
      gpu::relayout_scales_async<linear_scales, tiled_8x4_scales>(x.row_scales.device(), from_bytes, to, to_bytes, n,
                                                                  5);
    });
  };
  std::uint8_t* const to = x.tile_scales.device();
  CHECK(relayout(84, 256, to, 17) == errc::scale_buffer_too_small);
  CHECK(relayout(85, 191, to, 17) == errc::scale_buffer_too_small);
  CHECK(relayout(85, 256, nullptr, 17) == errc::null_data);
  CHECK(relayout(85, 256, x.row_scales.device() + 80, 17) == errc::overlapping_output);
  CHECK(relayout(85, 256, to, -1) == errc::negative_size);
  CHECK(relayout(0, 0, nullptr, 0) == errc::ok);
  CUDA(cudaDeviceSynchronize());
  CHECK(x.same());
}

int main(int argc, char** argv) { return program::run(argc, argv); }
