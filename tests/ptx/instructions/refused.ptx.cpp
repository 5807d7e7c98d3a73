// SPDX-License-Identifier: Apache-2.0
// What is refused, before anything runs, with the instruction's text and line: instructions that a target lacks, and
// everything that is not known.
#include "instructions/program.hpp"

using namespace ptx::test;

namespace {

char const* const targets[] = {"sm_80",   "sm_86",   "sm_89",   "sm_90",   "sm_90a",  "sm_100",  "sm_100a",
                               "sm_100f", "sm_103",  "sm_103a", "sm_103f", "sm_110",  "sm_110a", "sm_110f",
                               "sm_120",  "sm_120a", "sm_120f", "sm_121",  "sm_121a", "sm_121f"};

/// Why the text is not loaded, or its kernel not run; empty when it is.
std::string refusal(std::string const& text, std::string const& target) {
  try {
    ptx::machine gpu(ptx::target::parse(target));
    auto const module = gpu.load(text);
    return gpu.kernels(module).empty() ? std::string() : gpu.refusal(module, "test");
  } catch (ptx::error const& e) { return e.what(); }
}
std::string refusal_of(std::string const& instruction, std::string const& target) {
  return refusal(text_of({instruction, "b64 = b64", target}), target);
}

int line_of(std::string const& text, std::string const& what) {
  return 1 +
         static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(what)), '\n'));
}

struct row {
  std::string instruction;
  char const* has;  ///< for each of the targets above: x, or - for what ptxas 13.0 refuses
};

char const* const all_targets = "xxxxxxxxxxxxxxxxxxxx";
char const* const from_86 = "-xxxxxxxxxxxxxxxxxxx";
char const* const from_89 = "--xxxxxxxxxxxxxxxxxx";
char const* const from_90 = "---xxxxxxxxxxxxxxxxx";
char const* const from_100 = "-----xxxxxxxxxxxxxxx";
char const* const blackwell = "------xx-xx-xx-xx-xx";   // with a suffix
char const* const stochastic = "------x--x----------";  // 100a, 103a
char const* const datacenter = "------xx-xx---------";  // 100 and 103 with a suffix
char const* const geforce = "---------------xx-xx";     // 120 and 121 with a suffix
char const* const nowhere = "--------------------";

std::string mma(std::string const& form, std::string const& scale = "", std::string const& a_ids = "{0, 0}",
                std::string const& b_ids = "{0, 0}") {
  bool const half = form.find(".f16.e") != std::string::npos;
  std::string const d = half ? "{%t0, %t1}" : "{%t0, %t1, %t2, %t3}";
  std::string s = "mma.sync.aligned." + form + " " + d + ", {%t4, %t5, %t6, %t7}, {%t8, %t9}, " + d;
  return s + (scale.empty() ? ";" : ", %t10, " + a_ids + ", %t11, " + b_ids + ";");
}

std::string const k64 = "m16n8k64.row.col.kind::", k32 = "m16n8k32.row.col.kind::";

row const rows[] = {
    {"mbarrier.arrive.shared.b64 %l0, [%l1];", all_targets},
    {"mbarrier.arrive.noComplete.shared.b64 %l0, [%l1], %t0;", all_targets},
    {"mbarrier.arrive.shared.b64 %l0, [%l1], %t0;", from_90},
    {"mbarrier.arrive_drop.shared.b64 %l0, [%l1], %t0;", from_90},
    {"mbarrier.arrive.relaxed.cta.shared.b64 %l0, [%l1];", from_90},
    {"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%l1];", from_90},
    {"mbarrier.test_wait.shared.b64 %p, [%l1], %l0;", all_targets},
    {"mbarrier.try_wait.shared.b64 %p, [%l1], %l0;", from_90},
    {"cvt.rn.satfinite.e2m1x2.f32 %n0, %t0, %t1;", blackwell},
    {"cvt.rn.satfinite.relu.e2m1x2.f32 %n0, %t0, %t1;", blackwell},
    {"cvt.rn.f16x2.e2m1x2 %t0, %n0;", blackwell},
    {"cvt.rn.relu.f16x2.e2m1x2 %t0, %n0;", blackwell},
    {"cvt.rn.satfinite.e2m1x2.f16x2 %n0, %t0;", blackwell},
    {"cvt.rs.satfinite.e2m1x4.f32 %h0, {%t0, %t1, %t2, %t3}, %t4;", stochastic},
    {"cvt.rs.relu.satfinite.e2m1x4.f32 %h0, {%t0, %t1, %t2, %t3}, %t4;", stochastic},
    {"cvt.rs.satfinite.e4m3x4.f32 %t5, {%t0, %t1, %t2, %t3}, %t4;", stochastic},
    {"cvt.rs.f16x2.f32 %t0, %t1, %t2, %t3;", stochastic},
    {"cvt.rs.bf16x2.f32 %t0, %t1, %t2, %t3;", stochastic},
    {"cvt.rn.satfinite.e4m3x2.f32 %h0, %t0, %t1;", from_89},
    {"cvt.rn.satfinite.e4m3x2.f16x2 %h0, %t0;", from_89},
    {"cvt.rn.satfinite.e5m2x2.f32 %h0, %t0, %t1;", from_89},
    {"cvt.rn.f16x2.e4m3x2 %t0, %h0;", from_89},
    {"cvt.rn.relu.f16x2.e4m3x2 %t0, %h0;", from_89},
    {"cvt.rz.satfinite.ue8m0x2.f32 %h0, %t0, %t1;", blackwell},
    {"cvt.rz.ue8m0x2.f32 %h0, %t0, %t1;", blackwell},
    {"cvt.rp.satfinite.ue8m0x2.bf16x2 %h0, %t0;", blackwell},
    {"cvt.rn.bf16x2.ue8m0x2 %t0, %h0;", blackwell},
    {"mul.f32x2 %l0, %l1, %l2;", from_100},
    {"fma.rn.f32x2 %l0, %l1, %l2, %l3;", from_100},
    {"redux.sync.max.abs.f32 %t0, %t1, 0xFFFFFFFF;", datacenter},
    {"max.f32 %t0, %t1, %t2, %t3;", from_100},
    {"min.xorsign.abs.f32 %t0, %t1, %t2;", from_86},
    {"ld.global.v8.b32 {%t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7}, [%l0];", from_100},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%t0, %t1, %t2, %t3}, [%l0];", all_targets},
    {"ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%t0, %t1, %t2, %t3}, [%l0];", blackwell},
    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%l0], {%t0};", from_90},
    {mma(k64 + "mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", "4X"), geforce},
    {mma(k64 + "mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", "4X", "{0, 1}", "{0, 3}"), geforce},
    {mma(k64 + "mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", "2X"), geforce},
    {mma(k64 + "mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", "2X", "{2, 0}", "{0, 0}"), geforce},
    {mma(k64 + "mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", "2X"), geforce},
    {mma(k32 + "mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e4m3.f32.ue8m0", "1X", "{3, 0}"), geforce},
    {mma(k32 + "f8f6f4.f32.e2m1.e4m3.f32"), geforce},
    {mma(k32 + "f8f6f4.f16.e2m1.e2m1.f16"), geforce},
    {mma("m16n8k32.row.col.f32.e4m3.e4m3.f32"), from_89},
    {mma("m16n8k32.row.col.f16.e4m3.e4m3.f16"), from_89},
    {mma("m16n8k16.row.col.f32.bf16.bf16.f32"), all_targets},
    // Refused everywhere by ptxas 13.0.
    {"cvt.rn.satfinite.e2m1x2.bf16x2 %n0, %t0;", nowhere},
    {"cvt.rn.satfinite.e4m3x2.bf16x2 %h0, %t0;", nowhere},
    {"cvt.rn.satfinite.e2m1x4.f32 %h0, {%t0, %t1, %t2, %t3};", nowhere},
    {"cvt.rn.bf16x2.e2m1x2 %t0, %n0;", nowhere},
    {"cvt.rn.scaled::n2::ue8m0.bf16x2.e2m1x2 %t0, %n0, %h0;", nowhere},
    {"cvt.rn.satfinite.s2f6x2.f32 %h0, %t0, %t1;", nowhere},
    {"cvt.rn.e2m1x2.f32 %n0, %t0, %t1;", nowhere},
    {"cvt.rz.satfinite.e2m1x2.f32 %n0, %t0, %t1;", nowhere},
    {"cvt.rn.f16x2.ue4m3x2 %t0, %h0;", nowhere},
    {"cvt.rn.satfinite.ue4m3x2.f32 %h0, %t0, %t1;", nowhere},
    {mma(k64 + "mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", "4X", "{0, 2}"), nowhere},
    {mma(k64 + "mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", "4X", "{1, 0}"), nowhere},
    {mma(k64 + "mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0", "4X"), nowhere},
    {mma(k64 + "mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3", "2X"), nowhere},
    {mma(k64 + "mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue4m3", "4X"), nowhere},
    {mma(k64 + "mxf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0", "4X"), nowhere},
    {mma(k32 + "mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue4m3", "1X"), nowhere},
    {mma("m16n8k32.row.col.f32.e2m1.e2m1.f32"), nowhere},
    {mma("m16n8k64.row.col.f32.e2m1.e2m1.f32"), nowhere},
};

/// Known to ptxas, but not modelled here: the refusal is what counts.
char const* const not_modelled[] = {
    "tcgen05.wait::ld.sync.aligned;", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%l0], 32;",
    "cp.async.bulk.commit_group;",    "mbarrier.arrive.expect_tx.shared.b64 %l0, [%l1], %t0;",
    "wgmma.fence.sync.aligned;",      "tex.1d.v4.f32.s32 {%t0, %t1, %t2, %t3}, [%l0, {%t4}];",
};

/// Nobody knows these.
char const* const unknown[] = {
    "frobnicate.u32 %t0, %t1;",
    "add.rx.f32 %t0, %t1, %t2;",
    "add.u32.sometimes %t0, %t1, %t2;",
    "add.u33 %t0, %t1, %t2;",
    "mov.u32 %t0, %clockwise;",
    "ld.global.sideways.u32 %t0, [%l0];",
    "ld.nowhere.u32 %t0, [%l0];",
    "add.u32 %t0, %t1;",
    "add.u32 %t0, %t1, %t2, %t3;",
    "add.u32 %undeclared, %t1, %t2;",
    "bra missing_label;",
    "call missing_function;",
    "setp.almost.f32 %p, %t0, %t1;",
    "mul.u32 %t0, %t1, %t2;",
    "div.f32 %t0, %t1, %t2;",
    "shfl.sync.sideways.b32 %t0, %t1, 0, 31, 0xFFFFFFFF;",
    "shfl.idx.b32 %t0, %t1, 0, 31;",
    "atom.global.mul.u32 %t0, [%l0], %t1;",
    "st.const.u32 [%l0], %t0;",
    "cvt.f32.f64 %t0, %l0;",
    "cvt.rn.s32.f32 %t0, %t1;",
    "add.ftz.f64 %l0, %l1, %l2;",
    "add.u32 %l0, %t1, %t2;",
    "add.f32 %h0, %h1, %h2;",
};

}  // namespace

TEST_CASE("each target has the instructions that ptxas says it has", "[ptx]") {
  for (row const& r : rows) {
    std::string got;
    for (char const* target : targets) { got += refusal_of(r.instruction, target).empty() ? 'x' : '-'; }
    INFO(r.instruction << "\n" << refusal_of(r.instruction, "sm_80") << "\n" << refusal_of(r.instruction, "sm_120a"));
    CHECK(got == r.has);
  }
}

TEST_CASE("a module of an older target gets that target's instructions on a newer device", "[ptx]") {
  auto const text = [](char const* target, char const* instruction) {
    return text_of({instruction, "b64 = b64", target});
  };
  CHECK(refusal(text("sm_80", "mov.u32 %t0, 1;"), "sm_100a") == "");
  CHECK_THAT(refusal(text("sm_80", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%l0], {%t0};"), "sm_90"),
             Catch::Matchers::ContainsSubstring("stmatrix"));
  CHECK_THAT(refusal(text("sm_100", "cvt.rn.f16x2.e2m1x2 %t0, %n0;"), "sm_100a"),
             Catch::Matchers::ContainsSubstring("e2m1x2"));
  CHECK(refusal(text("sm_100f", "cvt.rn.f16x2.e2m1x2 %t0, %n0;"), "sm_103a") == "");
  CHECK(refusal(text("sm_90", "mov.u32 %t0, 1;"), "sm_80") != "");
  CHECK(refusal(text("sm_100a", "mov.u32 %t0, 1;"), "sm_103a") != "");
  CHECK(refusal(text("sm_100a", "mov.u32 %t0, 1;"), "sm_120a") != "");
  CHECK(refusal(text("sm_90a", "mov.u32 %t0, 1;"), "sm_90") != "");
}

TEST_CASE("the unknown and the unmodelled are refused with text and line", "[ptx]") {
  std::vector<std::string> instructions(std::begin(unknown), std::end(unknown));
  instructions.insert(instructions.end(), std::begin(not_modelled), std::end(not_modelled));
  for (std::string const& instruction : instructions) {
    std::string const text = text_of({instruction, "b64 = b64", "sm_100a"}), message = refusal(text, "sm_100a");
    INFO(instruction << "\nis answered with: " << message);
    std::string const opcode = instruction.substr(0, instruction.find_first_of(" ;"));
    CHECK_THAT(message, Catch::Matchers::ContainsSubstring(opcode));
    CHECK_THAT(message, Catch::Matchers::ContainsSubstring(std::to_string(line_of(text, instruction))));
  }
}

TEST_CASE("only kernels that reach the unknown are refused", "[ptx]") {
  std::string const text =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".func twice() { frobnicate.b32; ret; }\n.func once() { call twice; ret; }\n"
      ".visible .entry good() { .reg .b32 %r; mov.u32 %r, 1; ret; }\n"
      ".visible .entry own() { .reg .b32 %r; @%p frobnicate.b32 %r; ret; }\n"
      ".visible .entry calls() { call once; ret; }\n"
      ".visible .entry by_address() { .reg .b64 %f; mov.u64 %f, twice; call %f, (), p; p: .callprototype _(); ret; }\n";
  ptx::machine gpu(ptx::target::parse("sm_90"));
  auto const module = gpu.load(text);
  auto const launch = [&](char const* kernel) { return gpu.launch(module, {kernel, {1, 1, 1}, {1, 1, 1}}); };
  CHECK_FALSE(launch("good").problem);
  CHECK_THROWS_AS(launch("own"), ptx::unsupported);
  CHECK_THROWS_AS(launch("calls"), ptx::unsupported);
  CHECK(gpu.refusal(module, "good") == "");
  CHECK_THAT(gpu.refusal(module, "own"), Catch::Matchers::ContainsSubstring("own") &&
                                             Catch::Matchers::ContainsSubstring("frobnicate.b32 %r") &&
                                             Catch::Matchers::ContainsSubstring("line 7"));
  CHECK_THAT(gpu.refusal(module, "calls"), Catch::Matchers::ContainsSubstring("calls cannot run: in twice"));
  auto const r = launch("by_address");
  REQUIRE(r.problem);
  CHECK_THAT(r.problem->message, Catch::Matchers::ContainsSubstring("frobnicate"));
}

TEST_CASE("text that is no PTX", "[ptx]") {
  for (char const* text :
       {"", "hello", ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry test() { mov.u32 }",
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry test() { ret;", ".target sm_90\n",
        ".version 9.0\n.target sm_90\n.address_size 64\n.banana .u32 x;\n",
        ".version 9.0\n.target sm_90\n.address_size 64\n.global .u32 x; .global .u32 x;\n"}) {
    INFO(text);
    CHECK(refusal(text, "sm_90") != "");
  }
}
