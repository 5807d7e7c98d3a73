// SPDX-License-Identifier: Apache-2.0
// atom and red: all operations and types, in global and shared memory, alone and from many threads at once.
#include <map>

#include "instructions/reference.hpp"

using namespace ptx::test;

namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using u32 = std::uint32_t;

struct operation {
  char const* name;  ///< with its type
  int width;
  std::function<word(word old, word b)> after;
};

u32 low(word w) { return static_cast<u32>(w); }

word flush(word w) { return (w & 0x7F80'0000) == 0 ? w & 0x8000'0000 : w; }

std::vector<operation> const integer_operations = {
    {"add.u32", 32, [](word a, word b) { return a + b; }},
    {"add.s32", 32, [](word a, word b) { return a + b; }},
    {"add.u64", 64, [](word a, word b) { return a + b; }},
    {"exch.b32", 32, [](word, word b) { return b; }},
    {"exch.b64", 64, [](word, word b) { return b; }},
    {"and.b32", 32, [](word a, word b) { return a & b; }},
    {"or.b32", 32, [](word a, word b) { return a | b; }},
    {"xor.b32", 32, [](word a, word b) { return a ^ b; }},
    {"and.b64", 64, [](word a, word b) { return a & b; }},
    {"or.b64", 64, [](word a, word b) { return a | b; }},
    {"xor.b64", 64, [](word a, word b) { return a ^ b; }},
    {"min.u32", 32, [](word a, word b) { return std::min(low(a), low(b)); }},
    {"max.u32", 32, [](word a, word b) { return std::max(low(a), low(b)); }},
    {"min.s32", 32,
     [](word a, word b) { return low(static_cast<word>(std::min(static_cast<i32>(a), static_cast<i32>(b)))); }},
    {"max.s32", 32,
     [](word a, word b) { return low(static_cast<word>(std::max(static_cast<i32>(a), static_cast<i32>(b)))); }},
    {"min.u64", 64, [](word a, word b) { return std::min(a, b); }},
    {"max.u64", 64, [](word a, word b) { return std::max(a, b); }},
    {"min.s64", 64,
     [](word a, word b) { return static_cast<word>(std::min(static_cast<i64>(a), static_cast<i64>(b))); }},
    {"max.s64", 64,
     [](word a, word b) { return static_cast<word>(std::max(static_cast<i64>(a), static_cast<i64>(b))); }},
    {"inc.u32", 32, [](word a, word b) { return low(a) >= low(b) ? 0 : a + 1; }},
    {"dec.u32", 32, [](word a, word b) { return low(a) == 0 || low(a) > low(b) ? b : a - 1; }},
};

std::string const shared_cells = ".shared .align 16 .b8 cells[2048];";

/// Puts %a into a cell of its own, operates with %b; %d is what came back, %e what is there then.
program around(operation const& o, std::string const& space, bool reduction, std::string const& semantics = "") {
  std::string const w = std::to_string(o.width), name(o.name);
  bool const shared = space == ".shared";
  std::string const address = shared ? "[%l0]" : "[%to+8]";
  std::string body;
  if (shared) { body += "mov.u32 %t0, %tid.x; mov.u64 %l0, cells; mad.wide.u32 %l0, %t0, 16, %l0; "; }
  body += "st" + space + ".b" + w + " " + address + ", %a; ";
  body += (reduction ? "mov.b" + w + " %d, 0; red" : "atom") + semantics + space + "." + name +
          (reduction ? " " : " %d, ") + address + ", %b; ";
  body += "ld" + space + ".b" + w + " %e, " + address + ";";
  std::string const type = (name.find(".f") != std::string::npos ? "f" : "b") + w;
  return {body, type + " " + type + " = " + type + " " + type, "sm_90", shared ? shared_cells : ""};
}

void check_all(operation const& o, table const& in) {
  for (bool reduction : {false, true}) {
    if (reduction && std::string(o.name).substr(0, 4) == "exch") { continue; }
    for (char const* space : {".global", ".shared", ""}) {
      check(around(o, space, reduction), in, [&](word const* i, word* out) {
        out[0] = reduction ? 0 : i[0];
        out[1] = o.after(i[0], i[1]);
      });
    }
  }
}

table integer_samples() {
  column const c{0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, ~word{0}, word{1} << 63, ~word{0} >> 1, 1000};
  table t = all({c, c});
  return t += random(100, 2);
}

}  // namespace

TEST_CASE("integer atomics: what was there, and what is there then", "[ptx]") {
  for (operation const& o : integer_operations) { check_all(o, integer_samples()); }
  for (char const* semantics : {".relaxed.gpu", ".acquire.sys", ".release.cta", ".acq_rel.gpu"}) {
    check(around(integer_operations[0], ".global", false, semantics), integer_samples(),
          [](word const* i, word* out) { out[0] = i[0], out[1] = i[0] + i[1]; });
  }
}

TEST_CASE("compare and swap", "[ptx]") {
  for (std::string const w : {"32", "64", "16"}) {
    word const mask = w == "64" ? ~word{0} : w == "32" ? 0xFFFF'FFFF : 0xFFFF;
    check({"st.global.b" + w + " [%to+8], %a; atom.global.cas.b" + w + " %d, [%to+8], %b, %c; ld.global.b" + w +
               " %e, [%to+8];",
           "b" + w + " b" + w + " = b" + w + " b" + w + " b" + w},
          all({{0, 1, 0xFFFF, 0x1'0000'0001, ~word{0}}, {0, 1, 0xFFFF, 0x1'0000'0001}, {7, 8}}),
          [&](word const* i, word* out) {
            out[0] = i[0];
            out[1] = ((i[0] ^ i[1]) & mask) == 0 ? i[2] : i[0];
          });
  }
}

TEST_CASE("float atomics", "[ptx]") {
  table singles = all({special_codes(f32), special_codes(f32)}), doubles = random(300, 2);
  for (word& w : doubles.words) { w = (w & 0x800F'FFFF'FFFF'FFFF) | 0x3FE0'0000'0000'0000; }
  check_all({"add.f64", 64, [](word a, word b) { return bits(as_f64(a) + as_f64(b)); }}, doubles);
  // In global memory f32 sums flush subnormals, in shared memory they do not.
  auto const flushed = [](word a, word b) { return flush(bits(as_f32(flush(a)) + as_f32(flush(b)))); };
  auto const plain = [](word a, word b) { return bits(as_f32(a) + as_f32(b)); };
  for (bool reduction : {false, true}) {
    for (bool shared : {false, true}) {
      check(around({"add.f32", 32, plain}, shared ? ".shared" : ".global", reduction), singles,
            [&](word const* i, word* out) {
              out[0] = reduction ? 0 : i[0];
              out[1] = shared ? plain(i[0], i[1]) : flushed(i[0], i[1]);
            });
    }
  }
  struct {
    std::string name;
    float_format format;
  } const halves[] = {{"f16", f16}, {"bf16", bf16}};
  for (auto const& h : halves) {
    auto const sum = [&](word a, word b) {
      return encode(h.format, sum_to_odd(decode(h.format, a & 0xFFFF), decode(h.format, b & 0xFFFF)));
    };
    table const codes = all({special_codes(h.format), special_codes(h.format)});
    check(
        {"st.global.b16 [%to+8], %a; atom.global.add.noftz." + h.name + " %d, [%to+8], %b; ld.global.b16 %e, [%to+8];",
         "b16 b16 = b16 b16"},
        codes, [&](word const* i, word* out) { out[0] = i[0], out[1] = sum(i[0], i[1]); });
    table pairs = codes;
    for (std::size_t i = 0; i < pairs.words.size(); ++i) {
      pairs.words[i] |= codes.words[codes.words.size() - 1 - i] << 16;
    }
    check({"st.global.b32 [%to+8], %a; red.global.add.noftz." + h.name + "x2 [%to+8], %b; ld.global.b32 %d, [%to+8];",
           "b32 b32 = b32 b32"},
          pairs, [&](word const* i, word* out) {
            out[0] = sum(i[0], i[1]) | sum(i[0] >> 16, i[1] >> 16) << 16, out[1] = unspecified;
          });
  }
}

TEST_CASE("vectors of sums", "[ptx]") {
  table in = random(200, 2);
  for (word& w : in.words) { w = (w & 0x81FF'FFFF'81FF'FFFF) | 0x3E00'0000'3E00'0000; }
  check({"st.global.b64 [%to+8], %a; mov.b64 {%t0, %t1}, %b; red.global.add.v2.f32 [%to+8], {%t0, %t1}; ld.global.b64 "
         "%d, [%to+8];",
         "b64 b64 = b64 b64"},
        in, [](word const* i, word* out) {
          out[0] = bits(as_f32(i[0]) + as_f32(i[1])) | bits(as_f32(i[0] >> 32) + as_f32(i[1] >> 32)) << 32;
          out[1] = unspecified;
        });
}

TEST_CASE("128 bits at once", "[ptx]") {
  // Outputs 2 and 3 of each thread are its cell, at a multiple of 16.
  std::string const start =
      "{ .reg .b128 %u, %v, %w; st.global.v2.b64 [%to+16], {%a, %b}; mov.b128 %u, {%c, %x}; mov.b128 %w, {%a, %b}; ";
  std::string const end = " mov.b128 {%d, %e}, %v; ld.global.v2.b64 {%f, %g}, [%to+16]; }",
                    types = "b64 b64 b64 b64 = b64 b64 b64 b64";
  auto const swapped = [](word const* i, word* out) { out[0] = i[0], out[1] = i[1], out[2] = i[2], out[3] = i[3]; };
  check({start + "atom.relaxed.gpu.global.exch.b128 %v, [%to+16], %u;" + end, types}, random(64, 4), swapped);
  check({start + "atom.relaxed.gpu.global.cas.b128 %v, [%to+16], %w, %u;" + end, types}, random(64, 4), swapped);
}

TEST_CASE("many threads on one cell: every addend counts once, every old value comes once", "[ptx]") {
  // 192 threads in 3 blocks add 1 to a module variable; the old values are 0..191 in some order.
  table in = random(192, 1);
  program const count{"atom.global.add.u32 %d, [total], 1;", "b32 = b32", "sm_90", ".global .align 4 .u32 total = 0;"};
  auto got = run(count, in, 64);
  std::sort(got.begin(), got.end());
  CHECK(got == range(192));
  // Lanes of one warp, in shared memory, each into one of four cells; the barrier makes the sums final.
  check(
      {"mov.u32 %t0, %tid.x; and.b32 %t1, %t0, 3; mov.u64 %l0, cells; mad.wide.u32 %l0, %t1, 4, %l0;"
       " st.shared.u32 [%l0], 0; bar.sync 0; atom.shared.add.u32 %d, [%l0], %t0; bar.sync 0; ld.shared.u32 %d, [%l0];",
       "b32 = b32", "sm_90", shared_cells},
      table{1, range(4)}, [](word const*, word* out) { out[0] = unspecified; }, 4);
  check(
      {"mov.u32 %t0, %tid.x; and.b32 %t1, %t0, 3; mov.u64 %l0, cells; mad.wide.u32 %l0, %t1, 4, %l0; setp.lt.u32 %p, "
       "%t0, 4;"
       " @%p st.shared.u32 [%l0], 0; bar.sync 0; red.shared.add.u32 [%l0], %t0; bar.sync 0; ld.shared.u32 %d, [%l0];",
       "b32 = b32", "sm_90", shared_cells},
      table{1, range(64)}, [](word const* i, word* out) { out[0] = 480 + 16 * (i[0] % 4); }, 64);
}

TEST_CASE("a lock made of compare and swap", "[ptx]") {
  // Lanes of a warp take turns: independent thread scheduling lets the holder go on.
  check(
      {R"(again: atom.global.acquire.gpu.cas.b32 %t0, [lock], 0, 1;
            setp.ne.u32 %p, %t0, 0;
            @%p bra again;
            ld.volatile.global.u32 %t1, [total];
            add.u32 %t1, %t1, 1;
            st.volatile.global.u32 [total], %t1;
            atom.global.release.gpu.exch.b32 %t2, [lock], 0;
            wait: ld.acquire.gpu.global.u32 %d, [total];
            setp.ne.u32 %p, %d, 64;
            @%p bra wait;)",
       "b32 = b32", "sm_90", ".global .align 4 .u32 lock = 0; .global .align 4 .u32 total = 0;"},
      random(64, 1), [](word const*, word* out) { out[0] = 64; }, 32);
}
