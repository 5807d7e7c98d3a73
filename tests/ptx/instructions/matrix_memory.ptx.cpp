// SPDX-License-Identifier: Apache-2.0
// ldmatrix and stmatrix: eight rows at eight addresses, spread over the lanes.
#include "instructions/reference.hpp"

using namespace ptx::test;

namespace {

std::string const rows_of_lanes = ".shared .align 128 .b8 rows[1024];";

/// Lane L's row is the 16 bytes at %l0; rows lie in an order of their own, so that addresses count and not places.
std::string const own_row = R"(mov.u32 %t8, %laneid; mul.lo.u32 %t9, %t8, 11; and.b32 %t9, %t9, 31;
  mov.u64 %l0, rows; mad.wide.u32 %l0, %t9, 16, %l0;)";

word half(table const& t, unsigned row, unsigned column) {
  return t.words[row * 2 + column / 4] >> (16 * (column % 4)) & 0xFFFF;
}

}  // namespace

TEST_CASE("ldmatrix m8n8: x1, x2, x4, plain and transposed", "[ptx]") {
  table const t = random(32, 2);
  for (unsigned count : {1U, 2U, 4U}) {
    for (bool transposed : {false, true}) {
      std::string const list = count == 1 ? "{%d}" : count == 2 ? "{%d, %e}" : "{%d, %e, %f, %g}";
      std::string const body = own_row +
                               " st.shared.v2.b64 [%l0], {%a, %b}; bar.warp.sync 0xFFFFFFFF; mov.b32 %e, 0; mov.b32 "
                               "%f, 0; mov.b32 %g, 0; ldmatrix.sync.aligned.m8n8.x" +
                               std::to_string(count) + (transposed ? ".trans" : "") + ".shared.b16 " + list +
                               ", [%l0];";
      check(
          {body, "b32 b32 b32 b32 = b64 b64", "sm_80", rows_of_lanes}, t,
          [&](word const* in, word* out) {
            auto const lane = static_cast<unsigned>(in - t.words.data()) / 2;
            for (unsigned matrix = 0; matrix < count; ++matrix) {
              for (unsigned j : {0U, 1U}) {
                unsigned const r = lane / 4, c = lane % 4 * 2 + j;
                out[matrix] |= (transposed ? half(t, 8 * matrix + c, r) : half(t, 8 * matrix + r, c)) << (16 * j);
              }
            }
          },
          32);
    }
  }
}

TEST_CASE("stmatrix is its inverse", "[ptx]") {
  table const t = random(32, 2);  // lane's registers for matrices 0, 1 and 2, 3
  auto const reg = [&](unsigned lane, unsigned matrix) {
    return t.words[lane * 2 + matrix / 2] >> (32 * (matrix % 2));
  };
  for (unsigned count : {1U, 2U, 4U}) {
    for (bool transposed : {false, true}) {
      std::string const list = count == 1 ? "{%t0}" : count == 2 ? "{%t0, %t1}" : "{%t0, %t1, %t2, %t3}";
      std::string const body = own_row +
                               " mov.b64 {%t0, %t1}, %a; mov.b64 {%t2, %t3}, %b; mov.u64 %l1, 0; st.shared.v2.b64 "
                               "[%l0], {%l1, %l1}; bar.warp.sync 0xFFFFFFFF; stmatrix.sync.aligned.m8n8.x" +
                               std::to_string(count) + (transposed ? ".trans" : "") + ".shared.b16 [%l0], " + list +
                               "; bar.warp.sync 0xFFFFFFFF; ld.shared.v2.b64 {%d, %e}, [%l0];";
      check(
          {body, "b64 b64 = b64 b64", "sm_90", rows_of_lanes}, t,
          [&](word const* in, word* out) {
            unsigned const row = static_cast<unsigned>(in - t.words.data()) / 2, matrix = row / 8;
            for (unsigned c = 0; c < 8 && matrix < count; ++c) {
              unsigned const from = transposed ? c * 4 + row % 8 / 2 : row % 8 * 4 + c / 2,
                             place = transposed ? row % 2 : c % 2;
              out[c / 4] |= (reg(from, matrix) >> (16 * place) & 0xFFFF) << (16 * (c % 4));
            }
          },
          32);
    }
  }
}

TEST_CASE("ldmatrix m8n16 unpacks four bits into bytes", "[ptx]") {
  // Each row is 16 codes in 8 bytes and 8 bytes of padding; a lane gets four codes of row lane / 4, one in each byte.
  table const t = random(32, 2);
  std::string const body = own_row +
                           " st.shared.v2.b64 [%l0], {%a, %b}; bar.warp.sync 0xFFFFFFFF; "
                           "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%d, %e, %f, %g}, [%l0];";
  for (char const* target : {"sm_100a", "sm_120f"}) {
    check(
        {body, "b32 b32 b32 b32 = b64 b64", target, rows_of_lanes}, t,
        [&](word const* in, word* out) {
          auto const lane = static_cast<unsigned>(in - t.words.data()) / 2;
          for (unsigned matrix = 0; matrix < 4; ++matrix) {
            word const row = t.words[(8 * matrix + lane / 4) * 2];
            for (unsigned j = 0; j < 4; ++j) { out[matrix] |= (row >> (4 * (lane % 4 * 4 + j)) & 0xF) << (8 * j); }
          }
        },
        32);
  }
}

TEST_CASE("ldmatrix feeds mma: packed rows of e2m1 are the fragments of m16n8k64", "[ptx]") {
  // Rows of 64 codes are 32 bytes: the four matrices are rows 0-7 and 8-15 of the first 16 bytes, then of the last.
  table const t = random(32, 2);  // lane r + 16 * s: bytes 16 * s.. of row r
  std::string const body = R"(mov.u32 %t8, %laneid; and.b32 %t9, %t8, 15; shr.u32 %t10, %t8, 4;
    mov.u64 %l0, rows; mad.wide.u32 %l0, %t9, 32, %l0; mad.wide.u32 %l0, %t10, 16, %l0;
    st.shared.v2.b64 [%l0], {%a, %b}; bar.warp.sync 0xFFFFFFFF;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%d, %e, %f, %g}, [%l0];)";
  check(
      {body, "b32 b32 b32 b32 = b64 b64", "sm_120a", rows_of_lanes}, t,
      [&](word const* in, word* out) {
        auto const lane = static_cast<unsigned>(in - t.words.data()) / 2;
        for (unsigned i = 0; i < 4; ++i) {
          for (unsigned j = 0; j < 8; ++j) {
            unsigned const m = lane / 4 + 8 * (i & 1), k = 8 * (lane % 4) + 32 * (i >> 1) + j;
            word const bytes = t.words[(m + 16 * (k / 32)) * 2 + k % 32 / 16];
            out[i] |= (bytes >> (4 * (k % 16)) & 0xF) << (4 * j);
          }
        }
      },
      32);
}

TEST_CASE("movmatrix transposes eight by eight halves over the lanes", "[ptx]") {
  table const t = random(32, 1);
  check(
      {"movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;", "b32 = b32", "sm_80"}, t,
      [&](word const* in, word* out) {
        auto const lane = static_cast<unsigned>(in - t.words.data());
        for (unsigned j : {0U, 1U}) {
          unsigned const row = lane % 4 * 2 + j, column = lane / 4;  // of the source
          out[0] |= (t.words[row * 4 + column / 2] >> (16 * (column % 2)) & 0xFFFF) << (16 * j);
        }
      },
      32);
}
