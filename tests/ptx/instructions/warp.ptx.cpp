// SPDX-License-Identifier: Apache-2.0
// Operations in which lanes meet: shfl, vote, match, redux, elect.
#include "instructions/reference.hpp"

using namespace ptx::test;

namespace {

using u32 = std::uint32_t;

/// One warp's inputs.
class warp_inputs {
 public:
  warp_inputs(word const* first, std::size_t width) : first_(first), width_(width) {}
  word operator()(unsigned lane, unsigned column) const { return first_[lane * width_ + column] & 0xFFFF'FFFF; }
  [[nodiscard]] word wide(unsigned lane, unsigned column) const { return first_[lane * width_ + column]; }

 private:
  word const* first_;
  std::size_t width_;
};

using lane_expectation = std::function<void(unsigned lane, warp_inputs const& in, word* out)>;

/// Every 32 rows are a warp.
void check_warps(program const& p, table const& rows, lane_expectation const& f) {
  check(
      p, rows,
      [&](word const* in, word* out) {
        auto const row = static_cast<std::size_t>(in - rows.words.data()) / rows.width;
        f(row % 32, warp_inputs(in - row % 32 * rows.width, rows.width), out);
      },
      32);
}

/// For each warp one value in all lanes of column 1 and following, and `first` in column 0.
table warps(std::vector<column> const& uniform, std::function<word(unsigned lane)> const& first) {
  table const combinations = all(uniform);
  table t{uniform.size() + 1};
  for (std::size_t row = 0; row < combinations.rows(); ++row) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      t.words.push_back(first(lane));
      for (std::size_t k = 0; k < uniform.size(); ++k) {
        t.words.push_back(combinations.words[row * uniform.size() + k]);
      }
    }
  }
  return t;
}

word mixed(unsigned lane) { return (lane * 0x9E3779B97F4A7C15U) >> 17; }
std::string const full_mask = ", 0xFFFFFFFF;";

template <class F>
word ballot(F f) {
  word mask = 0;
  for (unsigned lane = 0; lane < 32; ++lane) { mask |= word{f(lane)} << lane; }
  return mask;
}

}  // namespace

TEST_CASE("shfl: all modes, every distance, segments and clamps, with the predicate", "[ptx]") {
  column distances = range(34), clamps;
  for (word width : {1, 2, 4, 8, 16, 32}) {
    clamps.push_back((32 - width) << 8 | 0x1F);  // as CUDA's down, bfly and idx pass it
    clamps.push_back((32 - width) << 8);         // as its up does
  }
  clamps.insert(clamps.end(), {0x0A05, 0x1503, 7});
  for (char const* mode : {"up", "down", "bfly", "idx"}) {
    std::string const m(mode);
    auto const expect = [&](unsigned lane, warp_inputs const& in, word* out) {
      u32 const b = in(lane, 1) & 31, clamp = in(lane, 2) & 31, segment = in(lane, 2) >> 8 & 31;
      int const max_lane = static_cast<int>((lane & segment) | (clamp & ~segment)), own = static_cast<int>(lane);
      int source = own ^ static_cast<int>(b);
      if (m == "up") { source = own - static_cast<int>(b); }
      if (m == "down") { source = own + static_cast<int>(b); }
      if (m == "idx") { source = static_cast<int>((lane & segment) | (b & ~segment)); }
      bool const inside = m == "up" ? source >= max_lane : source <= max_lane;
      out[0] = in(inside ? static_cast<unsigned>(source) : lane, 0);
      out[1] = inside;
    };
    std::string const body = "shfl.sync." + m + ".b32 %d|%p, %a, %b, %c" + full_mask + " selp.u32 %e, 1, 0, %p;";
    check_warps({body, "b32 b32 = b32 b32 b32"}, warps({distances, clamps}, mixed), expect);
    if (m == "idx") {  // every lane its own source
      table own = random(32 * 40, 3);
      for (std::size_t i = 2; i < own.words.size(); i += 3) { own.words[i] = 31; }
      check_warps({body, "b32 b32 = b32 b32 b32"}, own, expect);
      check_warps({"shfl.sync.idx.b32 %d, %a, 3, 31" + full_mask, "b32 = b32 b32 b32"}, own,
                  [](unsigned, warp_inputs const& in, word* out) { out[0] = in(3, 0); });
    }
  }
}

TEST_CASE("shfl between some lanes, the others apart", "[ptx]") {
  // Lanes below the limit exchange among themselves, the others too, at another instruction.
  check_warps({R"(mov.u32 %t0, %laneid;
                  setp.lt.u32 %p, %t0, 11;
                  @%p bra low;
                  shfl.sync.bfly.b32 %d, %a, 0, 31, 0xFFFFF800;
                  bra done;
                  low: shfl.sync.idx.b32 %d, %a, 10, 31, 0x7FF;
                  done:)",
               "b32 = b32"},
              random(96, 1),
              [](unsigned lane, warp_inputs const& in, word* out) { out[0] = lane < 11 ? in(10, 0) : in(lane, 0); });
  // The same instruction, reached twice with complementary masks.
  check_warps({R"(mov.u32 %t0, %laneid;
                  and.b32 %t0, %t0, 1;
                  setp.eq.u32 %p, %t0, 0;
                  mov.u32 %t1, 0xAAAAAAAA;
                  @%p mov.u32 %t1, 0x55555555;
                  shfl.sync.down.b32 %d, %a, 2, 31, %t1;)",
               "b32 = b32"},
              random(96, 1),
              [](unsigned lane, warp_inputs const& in, word* out) { out[0] = in(lane < 30 ? lane + 2 : lane, 0); });
}

TEST_CASE("vote", "[ptx]") {
  table in{1};
  for (word mask : {word{0}, word{0xFFFFFFFF}, word{1}, word{0x80000000}, word{0x7FFFFFFF}, word{0x12345678}}) {
    for (unsigned lane = 0; lane < 32; ++lane) { in.words.push_back(mask >> lane & 1); }
  }
  auto const votes = [](warp_inputs const& i) { return ballot([&](unsigned lane) { return i(lane, 0) != 0; }); };
  std::string const read = "setp.ne.u32 %p, %a, 0; ", write = " selp.u32 %d, 1, 0, %q;";
  check_warps({read + "vote.sync.ballot.b32 %d, %p" + full_mask, "b32 = b32"}, in,
              [&](unsigned, warp_inputs const& i, word* out) { out[0] = votes(i); });
  check_warps({read + "vote.sync.ballot.b32 %d, !%p" + full_mask, "b32 = b32"}, in,
              [&](unsigned, warp_inputs const& i, word* out) { out[0] = ~votes(i); });
  check_warps({read + "vote.sync.any.pred %q, %p" + full_mask + write, "b32 = b32"}, in,
              [&](unsigned, warp_inputs const& i, word* out) { out[0] = votes(i) != 0; });
  check_warps({read + "vote.sync.all.pred %q, %p" + full_mask + write, "b32 = b32"}, in,
              [&](unsigned, warp_inputs const& i, word* out) { out[0] = votes(i) == 0xFFFFFFFF; });
  check_warps({read + "vote.sync.uni.pred %q, %p" + full_mask + write, "b32 = b32"}, in,
              [&](unsigned, warp_inputs const& i, word* out) { out[0] = votes(i) == 0xFFFFFFFF || votes(i) == 0; });
  // Only lanes of the mask vote.
  check_warps(
      {"mov.u32 %t0, %laneid; setp.ge.u32 %p, %t0, 8; @%p bra done; mov.u32 %d, 0; setp.ne.u32 %q, %a, 0;"
       " vote.sync.ballot.b32 %d, %q, 0xFF; bra end; done: activemask.b32 %d; end:",
       "b32 = b32"},
      in, [&](unsigned lane, warp_inputs const& i, word* out) { out[0] = lane < 8 ? votes(i) & 0xFF : 0xFFFFFF00; });
}

TEST_CASE("match", "[ptx]") {
  table in{1};
  for (word groups : {1, 2, 3, 7, 32}) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      in.words.push_back((lane * 5 + lane / 3) % groups + (groups == 3 ? word{lane % 2} << 40 : 0));
    }
  }
  auto const same = [](unsigned lane, warp_inputs const& i) {
    return ballot([&](unsigned other) { return i.wide(other, 0) == i.wide(lane, 0); });
  };
  auto const same32 = [](unsigned lane, warp_inputs const& i) {
    return ballot([&](unsigned other) { return i(other, 0) == i(lane, 0); });
  };
  check_warps({"match.any.sync.b64 %d, %a" + full_mask, "b32 = b64"}, in,
              [&](unsigned lane, warp_inputs const& i, word* out) { out[0] = same(lane, i); });
  check_warps({"match.any.sync.b32 %d, %a" + full_mask, "b32 = b32"}, in,
              [&](unsigned lane, warp_inputs const& i, word* out) { out[0] = same32(lane, i); });
  check_warps({"match.all.sync.b32 %d|%p, %a" + full_mask + " selp.u32 %e, 1, 0, %p;", "b32 b32 = b32"}, in,
              [&](unsigned lane, warp_inputs const& i, word* out) {
                out[1] = same32(lane, i) == 0xFFFFFFFF;
                out[0] = out[1] != 0 ? 0xFFFFFFFF : 0;
              });
}

TEST_CASE("redux", "[ptx]") {
  table const in = random(32 * 20, 1);
  auto const reduce = [](warp_inputs const& i, auto f) {
    word r = i(0, 0);
    for (unsigned lane = 1; lane < 32; ++lane) { r = f(r, i(lane, 0)); }
    return r;
  };
  auto const s = [](word w) { return static_cast<std::int32_t>(w); };
  struct {
    char const* name;
    std::function<word(word, word)> f;
  } const operations[] = {{"add.u32", [](word a, word b) { return a + b; }},
                          {"add.s32", [](word a, word b) { return a + b; }},
                          {"min.u32", [](word a, word b) { return std::min(a, b); }},
                          {"max.u32", [](word a, word b) { return std::max(a, b); }},
                          {"min.s32", [&](word a, word b) { return s(a) < s(b) ? a : b; }},
                          {"max.s32", [&](word a, word b) { return s(a) > s(b) ? a : b; }},
                          {"and.b32", [](word a, word b) { return a & b; }},
                          {"or.b32", [](word a, word b) { return a | b; }},
                          {"xor.b32", [](word a, word b) { return a ^ b; }}};
  for (auto const& o : operations) {
    check_warps({std::string("redux.sync.") + o.name + " %d, %a" + full_mask, "b32 = b32", "sm_80"}, in,
                [&](unsigned, warp_inputs const& i, word* out) { out[0] = reduce(i, o.f); });
  }
  check_warps({"mov.u32 %t0, %laneid; setp.ge.u32 %p, %t0, 5; mov.u32 %d, 7; @%p bra end; redux.sync.add.u32 %d, %a, "
               "0x1F; end:",
               "b32 = b32", "sm_80"},
              in, [&](unsigned lane, warp_inputs const& i, word* out) {
                out[0] = lane >= 5 ? 7 : i(0, 0) + i(1, 0) + i(2, 0) + i(3, 0) + i(4, 0);
              });
}

TEST_CASE("redux of floats: NaN loses, or wins with .NaN", "[ptx]") {
  table in{1};
  column const special = special_codes(f32);
  for (unsigned i = 0; i < 32 * 40; ++i) {
    in.words.push_back(i < 32        ? 0x7FC00000 + i
                       : i % 97 == 5 ? 0xFFC00001
                       : i % 3 == 0  ? special[i % 34]
                                     : bits(static_cast<float>(i % 61) - 30.0F));
  }
  for (bool larger : {false, true}) {
    for (bool absolute : {false, true}) {
      for (bool nan_wins : {false, true}) {
        std::string const name =
            std::string(larger ? "max" : "min") + (absolute ? ".abs" : "") + (nan_wins ? ".NaN" : "");
        check_warps({"redux.sync." + name + ".f32 %d, %a" + full_mask, "b32 = b32", "sm_100a"}, in,
                    [&](unsigned, warp_inputs const& i, word* out) {
                      bool any_nan = false, any = false;
                      word best = 0;
                      for (unsigned lane = 0; lane < 32; ++lane) {
                        word const w = absolute ? i(lane, 0) & 0x7FFF'FFFF : i(lane, 0);
                        float const x = as_f32(w), y = as_f32(best);
                        if (x != x) {
                          any_nan = true;
                          continue;
                        }
                        bool const less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
                        bool const more = x > y || (x == y && !std::signbit(x) && std::signbit(y));
                        if (!any || (larger ? more : less)) { best = w; }
                        any = true;
                      }
                      out[0] = !any || (nan_wins && any_nan) ? 0x7FFF'FFFF : best;
                    });
      }
    }
  }
}

TEST_CASE("elect names one lane of the mask", "[ptx]") {
  auto const got = run({"elect.sync %d|%p, 0xFFFFFFFF; selp.u32 %e, 1, 0, %p;", "b32 b32 = b32"}, random(32, 1), 32);
  if (got.empty()) { return; }
  int leaders = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    CHECK(got[2 * lane] == got[0]);
    CHECK(got[2 * lane + 1] == (got[0] == lane ? 1 : 0));
    leaders += got[2 * lane + 1] != 0 ? 1 : 0;
  }
  CHECK(leaders == 1);
}
