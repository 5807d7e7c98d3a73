// SPDX-License-Identifier: Apache-2.0
#include "text/parser.hpp"

#include "catch.hpp"
#include "memory/finding.hpp"

using Catch::Matchers::ContainsSubstring;
using ptx::ast::item_kind;
using ptx::ast::operand_kind;

namespace {

std::string const head = ".version 8.0\n.target sm_90\n.address_size 64\n";

ptx::ast::module in_kernel(std::string const& body) { return ptx::parse(head + ".entry k() {\n" + body + "\n}\n"); }

ptx::ast::instruction first_instruction(std::string const& text) {
  return in_kernel(text).functions.at(0).body.at(0).instruction;
}

}  // namespace

TEST_CASE("an instruction is its guard, opcode and operands") {
  auto const m = in_kernel("@!%p1 ld.global.nc.v2.u64 {%rd1, _}, [%rd2+-16];");
  auto const& i = m.functions.at(0).body.at(0).instruction;
  CHECK(i.guard == "%p1");
  CHECK(i.guard_negated);
  CHECK(i.opcode == "ld.global.nc.v2.u64");
  REQUIRE(i.operands.size() == 2);
  CHECK(i.operands[0].kind == operand_kind::vector);
  CHECK(i.operands[0].parts.at(0).name == "%rd1");
  CHECK(i.operands[0].parts.at(1).kind == operand_kind::sink);
  CHECK(i.operands[1].kind == operand_kind::address);
  CHECK(i.operands[1].offset == -16);
  CHECK(m.functions[0].body[0].line == 5);
}

TEST_CASE("numbers keep their bits") {
  auto const bits = [](std::string const& number) {
    return first_instruction("mov.b64 %x, " + number + ";").operands.at(1).bits;
  };
  CHECK(bits("10") == 10);
  CHECK(bits("-1") == ~std::uint64_t{0});
  CHECK(bits("0x1fU") == 0x1F);
  CHECK(bits("017") == 15);
  CHECK(bits("0b101") == 5);
  CHECK(bits("0f3F800000") == 0x3F800000);
  CHECK(bits("-0f3F800000") == 0xBF800000);
  CHECK(bits("0d3FF0000000000000") == 0x3FF0000000000000);
  CHECK(bits("1.5") == 0x3FF8000000000000);
}

TEST_CASE("pairs, negated predicates, colons in modifiers") {
  auto const m = in_kernel(
      "shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;\n setp.lt.and.s32 %p1, %r1, %r2, !%p2;\n"
      "mma.sync.aligned.kind::mxf4nvf4.row.col.f32 {%f1}, {%r1}, {%r2}, {%f1};");
  auto const& body = m.functions.at(0).body;
  CHECK(body.at(0).instruction.operands.at(0).kind == operand_kind::pair);
  CHECK(body.at(1).instruction.operands.at(3).negated);
  CHECK(body.at(2).instruction.opcode == "mma.sync.aligned.kind::mxf4nvf4.row.col.f32");
}

TEST_CASE("labels, braces, register ranges and call prototypes are items") {
  auto const m = in_kernel(
      "L: { .reg .b32 %r<7>; .param .align 4 .b8 p[12];\n"
      "prototype_1 : .callprototype (.param .b32 _) _ (.param .b64 _);\n"
      "call (r), %rd1, (p), prototype_1; }\n table: .branchtargets L, M; M: ret;");
  auto const& body = m.functions.at(0).body;
  std::vector<item_kind> kinds;
  for (auto const& item : body) { kinds.push_back(item.kind); }
  CHECK(kinds == std::vector{item_kind::label, item_kind::open, item_kind::variable, item_kind::variable,
                             item_kind::prototype, item_kind::instruction, item_kind::close, item_kind::targets,
                             item_kind::label, item_kind::instruction});
  CHECK(body.at(2).variables.at(0).range == 7);
  CHECK(body.at(3).variables.at(0).elements == 12);
  CHECK(body.at(7).names == std::vector<std::string_view>{"L", "M"});
}

TEST_CASE("variables have sizes, values and symbols") {
  auto const m = ptx::parse(head +
                            ".visible .global .align 8 .u64 table[3] = {0, generic(other), other+8};\n"
                            ".extern .shared .align 16 .b8 buffer[];\n.const .f32 half = 0f3F000000;\n");
  REQUIRE(m.variables.size() == 3);
  CHECK(m.variables[0].values.at(1).symbol == "other");
  CHECK(m.variables[0].values.at(2).bits == 8);
  CHECK((m.variables[1].external && m.variables[1].elements == 0));
  CHECK(m.variables[2].values.at(0).bits == 0x3F000000);
}

TEST_CASE("instructions remember their source lines, also of inlined functions") {
  auto const m = ptx::parse(head +
                            ".entry k() {\n.loc 2 364 5, function_name $L__info+4, inlined_at 1 13 3\n ret; }\n"
                            ".file 2 \"a.cu\"\n.section .debug_str {\n$L__info: .b8 95,90\n.b8 0\n\n}\n");
  auto const& at = m.locations.at(m.functions.at(0).body.at(0).location);
  CHECK((at.file == 2 && at.line == 364));
  CHECK(m.files.at(0).second == "a.cu");
}

TEST_CASE("what is not PTX is refused with its line") {
  CHECK_THROWS_WITH(in_kernel("add.u32 %r1, %r2 %r3;"), ContainsSubstring("line 5") && ContainsSubstring("%r2 %r3"));
  CHECK_THROWS_WITH(in_kernel(".unknown 3;"), ContainsSubstring("unknown directive .unknown"));
  CHECK_THROWS_WITH(ptx::parse(head + ".entry k() { ret;"), ContainsSubstring("has no end"));
  CHECK_THROWS_WITH(ptx::parse(head + "/* never closed"), ContainsSubstring("comment without end"));
  CHECK_THROWS_AS(ptx::parse(head + ".global .u32 x = ;"), ptx::error);
}
