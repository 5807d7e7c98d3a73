// SPDX-License-Identifier: Apache-2.0
#include "text/parser.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "text/scanner.hpp"

namespace ptx {
namespace {

using ast::operand;
using ast::operand_kind;

/// Reads one module; every function takes what it names and the blanks after it.
class parser {
 public:
  explicit parser(std::string_view text) : in_(text) {}

  void read(ast::module& out);

 private:
  void module_directive(std::string_view word, ast::module& out);
  void linkage_and_after(ast::module& out, std::string_view word);
  void function(ast::module& out, bool entry);
  void function_attributes(ast::function& f);
  void body(ast::function& f);
  bool body_directive(ast::item& item);
  void location();
  void instruction(ast::item& item, std::string_view opcode);

  operand read_operand();
  operand read_single();
  operand read_address();
  operand read_group(char close, operand_kind kind);
  std::int64_t signed_integer();

  std::vector<ast::variable> declaration(std::string_view space, bool external, char end);
  ast::variable declarator(ast::variable const& like);
  void initialiser(ast::variable& v);
  ast::initial_value initial_value(std::string_view type);
  std::vector<ast::variable> parameters();
  void prototype(ast::item& item);

  scanner in_;
  std::vector<ast::location> locations_{{}};
  std::map<std::array<int, 3>, std::uint32_t> latest_{};  // location for file, line and column
  std::uint32_t location_ = 0;
};

bool is_space(std::string_view word) {
  return word == "global" || word == "const" || word == "shared" || word == "local" || word == "param" || word == "reg";
}

void parser::read(ast::module& out) {
  while (!in_.at_end()) {
    if (in_.accept(';')) { continue; }
    if (in_.peek() != '.') { in_.fail("expected a directive"); }
    in_.accept('.');
    module_directive(in_.word(), out);
  }
  out.locations = std::move(locations_);
}

void parser::module_directive(std::string_view word, ast::module& out) {
  if (word == "version") {
    out.version_major = static_cast<int>(in_.digits());
    in_.accept('.');
    out.version_minor = static_cast<int>(in_.unsigned_integer());
  } else if (word == "target") {
    out.target = in_.word();
    while (in_.accept(',')) { in_.word(); }
  } else if (word == "address_size") {
    if (in_.unsigned_integer() != 64) { in_.fail("only 64-bit addresses"); }
  } else if (word == "file") {
    int const index = static_cast<int>(in_.unsigned_integer());
    out.files.emplace_back(index, in_.quoted());
    while (in_.accept(',')) { in_.unsigned_integer(); }  // time stamp and size
  } else if (word == "section") {
    in_.skip_to('{');
    while (!in_.at_end() && in_.peek() != '}') { in_.skip_line(); }
    in_.expect('}');
  } else if (word == "alias") {
    in_.fail(".alias is not supported");
  } else if (word == "pragma") {
    in_.quoted();
    in_.expect(';');
  } else {
    linkage_and_after(out, word);
  }
}

void parser::linkage_and_after(ast::module& out, std::string_view word) {
  bool external = false;
  while (word == "visible" || word == "extern" || word == "weak" || word == "common") {
    external = external || word == "extern";
    in_.expect('.');
    word = in_.word();
  }
  if (word == "entry" || word == "func") {
    function(out, word == "entry");
  } else if (is_space(word) && word != "reg" && word != "param") {
    for (ast::variable& v : declaration(word, external, ';')) { out.variables.push_back(std::move(v)); }
  } else {
    in_.fail("unknown directive ." + std::string(word));
  }
}

void parser::function(ast::module& out, bool entry) {
  ast::function f;
  f.entry = entry;
  f.line = in_.line();
  while (in_.accept(".attribute")) { in_.expect('('), in_.skip_to(')'), in_.expect(')'); }
  if (in_.peek() == '(') { f.results = parameters(); }
  f.name = in_.word();
  if (in_.peek() == '(') { f.parameters = parameters(); }
  function_attributes(f);
  if (in_.peek() == '{') {
    f.defined = true;
    body(f);
  } else {
    in_.expect(';');
  }
  out.functions.push_back(std::move(f));
}

void parser::function_attributes(ast::function& f) {
  auto const up_to_three = [this](std::uint32_t* at) {
    for (int i = 0; i < 3; ++i) {
      at[i] = i == 0 || in_.accept(',') ? static_cast<std::uint32_t>(in_.unsigned_integer()) : 1;
    }
  };
  while (in_.accept('.')) {
    std::string_view const word = in_.word();
    std::uint32_t n[3];
    if (word == "maxntid" || word == "reqntid") {
      up_to_three(n);
      f.max_threads = n[0] * n[1] * n[2];
    } else if (word == "reqnctapercluster") {
      up_to_three(f.cluster);
    } else if (word == "minnctapersm") {
      f.min_blocks = static_cast<std::uint32_t>(in_.unsigned_integer());
    } else if (word == "maxnreg" || word == "maxnctapersm" || word == "maxclusterrank") {
      in_.unsigned_integer();
    } else if (word == "pragma") {
      in_.quoted();
      in_.expect(';');
    } else if (word != "noreturn" && word != "explicitcluster" && word != "blocksareclusters") {
      in_.fail("unknown directive ." + std::string(word));
    }
  }
}

void parser::body(ast::function& f) {
  in_.expect('{');
  for (int depth = 1; depth > 0;) {
    if (in_.at_end()) { in_.fail("function " + std::string(f.name) + " has no end"); }
    if (in_.accept(';')) { continue; }
    ast::item item;
    item.line = in_.line(), item.location = location_;
    std::size_t const from = in_.position();
    if (in_.accept('{')) {
      ++depth;
      item.kind = ast::item_kind::open;
    } else if (in_.accept('}')) {
      --depth;
      item.kind = ast::item_kind::close;
    } else if (in_.peek() == '.') {
      if (!body_directive(item)) { continue; }
    } else if (in_.accept('@')) {
      item.instruction.guard_negated = in_.accept('!');
      item.instruction.guard = in_.word();
      instruction(item, in_.dotted_word());
    } else {
      std::string_view const word = in_.dotted_word();
      if (in_.accept(':')) {
        item.kind = ast::item_kind::label;
        item.name = word;
        if (in_.accept(".callprototype")) { prototype(item); }
        if (in_.accept(".branchtargets") || in_.accept(".calltargets")) {
          item.kind = ast::item_kind::targets;
          do { item.names.push_back(in_.word()); } while (in_.accept(','));
          in_.expect(';');
        }
      } else {
        instruction(item, word);
      }
    }
    item.text = in_.since(from);
    if (depth > 0) { f.body.push_back(std::move(item)); }
  }
}

/// A directive inside a body; whether it leaves an item.
bool parser::body_directive(ast::item& item) {
  in_.accept('.');
  std::string_view const word = in_.word();
  if (word == "loc") {
    location();
    return false;
  }
  if (word == "pragma") {
    in_.quoted();
    in_.expect(';');
    return false;
  }
  if (!is_space(word)) { in_.fail("unknown directive ." + std::string(word)); }
  item.kind = ast::item_kind::variable;
  item.variables = declaration(word, false, ';');
  return true;
}

/// `.loc 2 364 5, function_name $L__info_string0, inlined_at 1 13 3`
void parser::location() {
  auto const place = [this] {
    std::array<int, 3> p{};
    for (int& n : p) { n = static_cast<int>(in_.unsigned_integer()); }
    return p;
  };
  std::array<int, 3> const here = place();
  std::uint32_t inlined_at = 0;
  while (in_.accept(',')) {
    if (in_.accept("function_name")) {
      in_.word();
      if (in_.accept('+')) { in_.unsigned_integer(); }
    } else if (in_.accept("inlined_at")) {
      if (auto const at = latest_.find(place()); at != latest_.end()) { inlined_at = at->second; }
    } else {
      in_.fail("unknown part of .loc");
    }
  }
  std::uint32_t& known = latest_[here];
  if (known == 0 || locations_[known].inlined_at != inlined_at) {
    known = static_cast<std::uint32_t>(locations_.size());
    locations_.push_back({here[0], here[1], inlined_at});
  }
  location_ = known;
}

void parser::instruction(ast::item& item, std::string_view opcode) {
  item.instruction.opcode = opcode;
  while (!in_.accept(';')) {
    item.instruction.operands.push_back(read_operand());
    if (in_.peek() != ';') { in_.expect(','); }
  }
}

std::int64_t parser::signed_integer() {
  bool const minus = in_.accept('-');
  auto const value = static_cast<std::int64_t>(in_.unsigned_integer());
  return minus ? -value : value;
}

operand parser::read_operand() {
  operand first = read_single();
  if (!in_.accept('|')) { return first; }
  operand pair;
  pair.kind = operand_kind::pair;
  pair.parts.push_back(std::move(first));
  pair.parts.push_back(read_single());
  return pair;
}

operand parser::read_single() {
  operand o;
  if (in_.peek() == '[') { return read_address(); }
  if (in_.accept('{')) { return read_group('}', operand_kind::vector); }
  if (in_.accept('(')) { return read_group(')', operand_kind::list); }
  o.negated = in_.accept('!');
  bool const minus = in_.accept('-');
  if (in_.at_number()) {
    number const n = in_.read_number();
    o.bits = n.bits;
    o.kind = n.kind == number::form::integer  ? operand_kind::integer
             : n.kind == number::form::real32 ? operand_kind::real32
                                              : operand_kind::real64;
    if (minus && o.kind == operand_kind::integer) { o.bits = ~o.bits + 1; }
    if (minus && o.kind == operand_kind::real32) { o.bits ^= 0x80000000u; }
    if (minus && o.kind == operand_kind::real64) { o.bits ^= std::uint64_t{1} << 63; }
    return o;
  }
  if (minus) { in_.fail("expected a number"); }
  o.name = in_.dotted_word();
  if (o.name == "_") { o.kind = operand_kind::sink; }
  if (in_.accept('+')) { o.offset = signed_integer(); }
  return o;
}

/// [name], [name+8], [name+-8], [4096], and [a, b] of instructions that take more in one bracket.
operand parser::read_address() {
  operand o;
  o.kind = operand_kind::address;
  in_.expect('[');
  do {
    operand part = read_single();
    if (o.parts.empty()) { o.offset = part.offset; }
    if (o.parts.empty() && in_.accept('-')) { o.offset = -static_cast<std::int64_t>(in_.unsigned_integer()); }
    part.offset = 0;
    o.parts.push_back(std::move(part));
  } while (in_.accept(','));
  in_.expect(']');
  return o;
}

operand parser::read_group(char close, operand_kind kind) {
  operand o;
  o.kind = kind;
  while (!in_.accept(close)) {
    o.parts.push_back(read_operand());
    if (in_.peek() != close) { in_.expect(','); }
  }
  return o;
}

/// What follows `.space` up to the end character: qualifiers, type, names with ranges, dimensions, initialisers.
std::vector<ast::variable> parser::declaration(std::string_view space, bool external, char end) {
  ast::variable like;
  like.space = space;
  like.external = external;
  like.line = in_.line();
  while (in_.accept('.')) {
    std::string_view const word = in_.word();
    if (word == "align") {
      like.align = static_cast<std::uint32_t>(in_.unsigned_integer());
    } else if (word == "v2" || word == "v4") {
      like.vector = word == "v2" ? 2 : 4;
    } else if (word == "attribute") {
      in_.expect('(');
      like.managed = in_.accept(".managed") || like.managed;
      in_.skip_to(')'), in_.expect(')');
    } else if (word == "ptr") {  // .param .u64 .ptr .global .align 4 name
      while (in_.accept('.')) {
        if (in_.word() == "align") { in_.unsigned_integer(); }
      }
    } else {
      like.type = word;
    }
  }
  if (like.type.empty()) { in_.fail("declaration without a type"); }
  std::vector<ast::variable> all;
  do { all.push_back(declarator(like)); } while (end == ';' && in_.accept(','));
  if (end == ';') { in_.expect(';'); }
  return all;
}

ast::variable parser::declarator(ast::variable const& like) {
  ast::variable v = like;
  v.name = in_.word();
  if (in_.accept('<')) {
    v.range = static_cast<std::uint32_t>(in_.unsigned_integer());
    in_.expect('>');
  }
  while (in_.accept('[')) {
    v.is_array = true;
    v.elements *= in_.peek() == ']' ? 0 : in_.unsigned_integer();
    in_.expect(']');
  }
  if (in_.accept('=')) { initialiser(v); }
  if (v.elements == 0 && !v.values.empty()) { v.elements = v.values.size(); }
  return v;
}

void parser::initialiser(ast::variable& v) {
  if (!in_.accept('{')) {
    v.values.push_back(initial_value(v.type));
    return;
  }
  for (int depth = 1; depth > 0;) {
    if (in_.accept('{')) {
      ++depth;
    } else if (in_.accept('}')) {
      --depth;
    } else if (!in_.accept(',')) {
      v.values.push_back(initial_value(v.type));
    }
  }
}

ast::initial_value parser::initial_value(std::string_view type) {
  ast::initial_value value;
  operand const o = read_single();
  if (in_.accept('(')) {  // generic(name), 0xFF00(name)
    if (o.kind == operand_kind::integer) { value.mask = o.bits; }
    operand const inner = read_single();
    value.symbol = inner.name;
    value.bits = static_cast<std::uint64_t>(inner.offset);
    in_.expect(')');
    if (in_.accept('+')) { value.bits += in_.unsigned_integer(); }
    return value;
  }
  value.bits = o.bits;
  if (o.kind == operand_kind::name) {
    value.symbol = o.name;
    value.bits = static_cast<std::uint64_t>(o.offset);
  }
  if (o.kind == operand_kind::real64 && type == "f32") {  // a decimal number
    double wide = 0;
    std::memcpy(&wide, &o.bits, sizeof wide);
    auto const narrow = static_cast<float>(wide);
    value.bits = 0;
    std::memcpy(&value.bits, &narrow, sizeof narrow);
  }
  return value;
}

std::vector<ast::variable> parser::parameters() {
  std::vector<ast::variable> all;
  in_.expect('(');
  while (!in_.accept(')')) {
    in_.expect('.');
    std::string_view const space = in_.word();
    if (space != "param" && space != "reg") { in_.fail("expected .param"); }
    all.push_back(declaration(space, false, ')').front());
    in_.accept(',');
  }
  return all;
}

/// `name : .callprototype (.param .b32 _) _ (.param .b64 _);`
void parser::prototype(ast::item& item) {
  item.kind = ast::item_kind::prototype;
  if (in_.peek() == '(') { item.results = parameters(); }
  in_.word();
  if (in_.peek() == '(') { item.variables = parameters(); }
  in_.accept(".noreturn");
  in_.expect(';');
}

}  // namespace

ast::module parse(std::string_view text) {
  ast::module out;
  out.text = std::make_unique<std::string const>(text.substr(0, text.find('\0')));
  parser(*out.text).read(out);
  if (out.version_major == 0) { throw error("PTX without .version"); }
  if (out.target.empty()) { throw error("PTX without .target"); }
  return out;
}

}  // namespace ptx
