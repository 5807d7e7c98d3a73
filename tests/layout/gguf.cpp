// SPDX-License-Identifier: Apache-2.0
#include <fp4/layout/gguf.hpp>
#include <vector>

#include "catch.hpp"

TEST_CASE("a GGUF block holds elements j and j + 8 of each sixteen in one byte, after four scales") {
  using block = fp4::gguf_nvfp4_block;
  std::uint8_t codes[32]{}, scales[4] = {0x38, 0x01, 0x7E, 0x40}, packed[block::bytes];
  for (int k = 0; k < 64; ++k) { fp4::set_nibble(codes, k, static_cast<std::uint8_t>((k * 5 + k / 16) % 16)); }
  block::pack(codes, scales, packed);

  CHECK(packed[0] == 0x38);
  CHECK(packed[3] == 0x40);
  // Elements 0 and 8: codes 0 and 40 % 16 = 8. Elements 1 and 9: 5 and 45 % 16 = 13.
  CHECK(packed[4] == 0x80);
  CHECK(packed[5] == 0xD5);
  // Elements 63 - 8 = 55 and 63, the last byte: (275 + 3) % 16 = 6 and (315 + 3) % 16 = 14.
  CHECK(packed[35] == 0xE6);

  std::uint8_t codes_back[32], scales_back[4];
  block::unpack(packed, codes_back, scales_back);
  CHECK(std::vector<int>(codes_back, codes_back + 32) == std::vector<int>(codes, codes + 32));
  CHECK(std::vector<int>(scales_back, scales_back + 4) == std::vector<int>(scales, scales + 4));
}
