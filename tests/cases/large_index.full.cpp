// SPDX-License-Identifier: Apache-2.0
// Case M1: an element past 2^31. Takes 4.3 GB of address space, 1.2 GB of it written.
#include <cstdlib>
#include <memory>

#include "cases/rows.hpp"

TEST_CASE("M1: the element with flat index 2^31 is found", "[cases]") {
  constexpr std::int64_t rows = 175000, cols = 12288;
  constexpr std::int64_t row = 174762, col = 8192;
  STATIC_REQUIRE(row * cols + col == std::int64_t{1} << 31);
  // Zeros that the system maps on demand.
  std::unique_ptr<fp4::bfloat16[], void (*)(void*)> const x(
      static_cast<fp4::bfloat16*>(std::calloc(static_cast<std::size_t>(rows * cols), sizeof(fp4::bfloat16))),
      std::free);
  if (x == nullptr) {
    skip_test("4.3 GB of memory were not to be had");
    return;
  }
  x[static_cast<std::size_t>(row * cols + col)] = fp4::bfloat16::from_float(6);
  auto const q =
      fp4::quantize<fp4::nvfp4>(fp4::matrix_view<fp4::bfloat16 const>(x.get(), rows, cols), test::unit_scale());
  CHECK(q.codes()[1073741824] == 0x07);
  CHECK(q.scales()[134217728] == 0x38);
  std::int64_t nonzero_codes = 0, nonzero_scales = 0;
  for (std::uint8_t const code : q.codes()) { nonzero_codes += code != 0; }
  for (std::uint8_t const scale : q.scales()) { nonzero_scales += scale != 0; }
  CHECK(nonzero_codes == 1);
  CHECK(nonzero_scales == 1);
}
