// SPDX-License-Identifier: Apache-2.0
#include "program/decoder.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "program/availability.hpp"
#include "program/scopes.hpp"
#include "program/special.hpp"
#include "program/variables.hpp"

namespace ptx {
namespace {

using ast::item_kind;
using ast::operand_kind;

/// The bits of a written number as an operand of this type.
std::uint64_t number_bits(ast::operand const& o, type t) {
  std::uint64_t bits = o.bits;
  if (o.kind == operand_kind::real64 && bits_of(t) == 32) {  // a decimal float where f32 is expected
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    auto const single = static_cast<float>(value);
    std::uint32_t narrow = 0;
    std::memcpy(&narrow, &single, sizeof narrow);
    return narrow;
  }
  return bits_of(t) >= 64 || t == type::none ? bits : bits & ((std::uint64_t{1} << bits_of(t)) - 1);
}

class decoder final : public form {
 public:
  decoder(program& into, target const& which, opcode_table const& opcodes)
      : out_(into), which_(which), table_(opcodes) {}

  void run();

  std::uint32_t label(std::string_view name) override;
  std::uint32_t target_list(std::string_view name) override;
  std::uint32_t call_site(form& f) override;
  bool next_is_predicate() override;
  bool frame_parameter(std::string_view name, frame_bytes& where) override;
  bool kernel_parameter(std::string_view name, parameter_info& where) override;

 protected:
  operand lower(ast::operand const& o, type t, bool is_destination) override;
  [[nodiscard]] std::string where() const override;

 private:
  void declare_functions();
  void body(std::uint32_t index);
  void declare(ast::variable const& v);
  void one(ast::instruction const& i);
  void one_or_refused(ast::instruction const& i);
  void add(ast::instruction const& i);
  void leave_at_end();
  std::uint32_t constant(std::uint64_t bits);
  operand symbol_operand(symbol const& s, ast::operand const& o);
  void check_width(symbol const& s, type t, std::string_view name) const;
  std::uint32_t kind_of(ast::instruction const& i);
  frame_bytes new_frame_bytes(ast::variable const& v);
  frame_bytes argument(ast::operand const& o);

  program& out_;
  target const& which_;
  opcode_table const& table_;
  scopes names_{};
  function_code* function_ = nullptr;
  std::uint32_t function_index_ = 0;
  ast::item const* item_ = nullptr;
  std::uint32_t shared_offset_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> constant_slots_{};
  std::unordered_map<std::string, std::uint32_t> kind_numbers_{};
  std::unordered_map<std::string_view, std::uint32_t> function_numbers_{};
  std::vector<std::size_t> first_operand_{};  // of each instruction, in out_.operands
};

void decoder::run() {
  for (ast::variable const& v : out_.text.variables) {
    symbol s{symbol_kind::constant};
    if (v.space == "shared") {
      s = shared_symbol(v, out_.common_shared);
    } else {
      s.value = out_.variables.at(std::string(v.name)).address;
    }
    if (names_.find(v.name) != nullptr) {
      throw error("PTX line " + std::to_string(v.line) + ": declared twice: " + std::string(v.name));
    }
    names_.add(v.name, s);
  }
  shared_offset_ = out_.common_shared;
  declare_functions();
  for (std::uint32_t i = 0; i < out_.functions.size(); ++i) {
    if (out_.functions[i].defined) { body(i); }
  }
  for (std::size_t i = 0; i < out_.code.size(); ++i) {
    out_.code[i].operands = out_.operands.data() + first_operand_[i];
  }
}

/// A declaration and a definition of a function share one number.
void decoder::declare_functions() {
  for (ast::function const& f : out_.text.functions) {
    auto const [at, fresh] = function_numbers_.emplace(f.name, static_cast<std::uint32_t>(out_.functions.size()));
    if (!fresh) { continue; }
    function_code code;
    code.name = f.name;
    code.entry = f.entry;
    out_.functions.push_back(code);
    symbol s{symbol_kind::function};
    s.value = at->second;
    names_.add(f.name, s);
  }
  for (ast::function const& f : out_.text.functions) {
    if (f.defined) { out_.functions[function_numbers_.at(f.name)].defined = true; }
  }
}

frame_bytes decoder::new_frame_bytes(ast::variable const& v) {
  frame_bytes const where{function_->frame_slots, static_cast<std::uint32_t>(size_of(v)), false};
  function_->frame_slots += (where.bytes + 7) / 8;
  return where;
}

void decoder::body(std::uint32_t index) {
  function_index_ = index;
  function_ = &out_.functions[index];
  ast::function const& f = *std::find_if(out_.text.functions.begin(), out_.text.functions.end(),
                                         [this](auto const& g) { return g.defined && g.name == function_->name; });
  function_->begin = static_cast<std::uint32_t>(out_.code.size());
  std::size_t first_list = out_.targets.size();
  names_.enter_function(f.body);
  if (f.entry) {
    describe_kernel(f, function_->info);
    shared_offset_ = out_.common_shared;
    for (std::size_t i = 0; i < f.parameters.size(); ++i) {
      symbol s{symbol_kind::kernel_parameter};
      s.value = i;
      names_.add(f.parameters[i].name, s);
    }
  } else {
    auto const formal = [this](std::vector<ast::variable> const& from, std::vector<frame_bytes>& to) {
      for (ast::variable const& v : from) {
        symbol s{v.space == "reg" ? symbol_kind::reg : symbol_kind::frame_parameter};
        s.bytes = new_frame_bytes(v);
        s.slot = s.bytes.slot;
        s.type_of = type_named(v.type);
        to.push_back(s.bytes);
        names_.add(v.name, s);
      }
    };
    formal(f.results, function_->results);
    formal(f.parameters, function_->parameters);
  }
  for (ast::item const& item : f.body) {
    item_ = &item;
    switch (item.kind) {
      case item_kind::open: names_.open(); break;
      case item_kind::close: names_.close(); break;
      case item_kind::label: names_.place_label(item.name, static_cast<std::uint32_t>(out_.code.size())); break;
      case item_kind::variable:
        for (ast::variable const& v : item.variables) { declare(v); }
        break;
      case item_kind::instruction: one_or_refused(item.instruction); break;
      case item_kind::prototype: break;
      case item_kind::targets: {
        std::vector<std::uint32_t> list;
        for (std::string_view name : item.names) { list.push_back(label(name)); }
        symbol s{symbol_kind::targets};
        s.value = out_.targets.size();
        out_.targets.push_back(std::move(list));
        names_.add(item.name, s);
        break;
      }
    }
  }
  leave_at_end();
  names_.leave_function();
  for (std::size_t i = function_->begin; i < out_.code.size(); ++i) {
    if (out_.code[i].how == flow::branch) { out_.code[i].target = names_.label_place(out_.code[i].target); }
  }
  for (; first_list < out_.targets.size(); ++first_list) {
    for (std::uint32_t& target : out_.targets[first_list]) { target = names_.label_place(target); }
  }
  if (f.entry) {
    function_->info.static_shared = shared_offset_;
    function_->info.local_bytes = function_->local_bytes;
  }
}

void decoder::declare(ast::variable const& v) {
  if (v.space == "reg") {
    type const t = type_named(v.type);
    if (t == type::none) { fail("unknown type ." + std::string(v.type)); }
    symbol s{symbol_kind::reg};
    s.type_of = t;
    s.slot = function_->frame_slots;
    std::uint32_t const each = bits_of(t) > 64 ? 2 : 1;
    std::uint32_t const n = v.range != 0 ? v.range : 1;
    function_->frame_slots += n * each;
    function_->info.registers += static_cast<int>(t == type::pred ? 0 : n * std::max(1u, bits_of(t) / 32));
    function_->register_names.resize(function_->frame_slots);
    for (std::uint32_t i = 0; i < n; ++i) {
      function_->register_names[s.slot + i * each] = std::string(v.name) + (v.range != 0 ? std::to_string(i) : "");
    }
    v.range != 0 ? names_.add_range(v.name, s, v.range) : names_.add(v.name, s);
  } else if (v.space == "param") {
    symbol s{symbol_kind::frame_parameter};
    s.bytes = new_frame_bytes(v);
    names_.add(v.name, s);
  } else if (v.space == "shared") {
    names_.add(v.name, shared_symbol(v, function_->entry ? shared_offset_ : out_.common_shared));
  } else if (v.space == "local") {
    symbol s{symbol_kind::local};
    s.value = place_after(function_->local_bytes, v);
    names_.add(v.name, s);
  } else {
    fail("variable in a function in space ." + std::string(v.space));
  }
}

void decoder::one(ast::instruction const& i) {
  if (std::string const why = refusal(i.opcode, i.operands.size(), which_); !why.empty()) { fail(why); }
  begin(i.opcode, i.operands);
  builder const build = table_.find(base());
  if (build == nullptr) { fail("unknown instruction"); }
  build(*this);
  finish();
  if (!i.guard.empty()) {
    ast::operand guard;
    guard.name = i.guard;
    out.guard = static_cast<std::int32_t>(lower(guard, type::pred, false).slot);
    out.guard_negated = i.guard_negated;
  }
  add(i);
}

/// Whoever reaches the function must not run. The others may.
void decoder::one_or_refused(ast::instruction const& i) {
  try {
    one(i);
  } catch (error const& e) {
    if (function_->refused.empty()) { function_->refused = e.what(); }
    begin(i.opcode, {});
    out.how = flow::exit;
    add(i);
  }
}

void decoder::add(ast::instruction const& i) {
  first_operand_.push_back(out_.operands.size());
  out_.operands.insert(out_.operands.end(), lowered().begin(), lowered().end());
  out_.code.push_back(out);
  out_.origins.push_back({item_->line, item_->location, function_index_, kind_of(i), item_->text});
}

/// The end of a body returns.
void decoder::leave_at_end() {
  static ast::instruction const ret = [] {
    ast::instruction i;
    i.opcode = "ret";
    return i;
  }();
  static ast::item const nowhere{};
  if (item_ == nullptr) { item_ = &nowhere; }
  one(ret);
}

/// What a report counts it as: the opcode with the state space or the first type.
std::uint32_t decoder::kind_of(ast::instruction const& i) {
  std::string_view const op = i.opcode;
  std::string kind(op.substr(0, op.find('.')));
  std::string_view first_type{};
  for (std::size_t at = op.find('.'); at != std::string_view::npos; at = op.find('.', at + 1)) {
    std::string_view const word = op.substr(at + 1, op.find('.', at + 1) - at - 1);
    bool const space = word == "global" || word == "shared" || word == "local" || word == "param" || word == "const";
    if (space) {
      first_type = word;
      break;
    }
    if (first_type.empty() && type_named(word) != type::none) { first_type = word; }
  }
  if (!first_type.empty()) { kind += "." + std::string(first_type); }
  auto const [at, fresh] = kind_numbers_.emplace(kind, static_cast<std::uint32_t>(out_.kinds.size()));
  if (fresh) { out_.kinds.push_back(kind); }
  return at->second;
}

std::uint32_t decoder::constant(std::uint64_t bits) {
  auto const [at, fresh] = constant_slots_.emplace(bits, static_cast<std::uint32_t>(constant_slots_.size()));
  if (fresh) {
    out_.constants.values.insert(out_.constants.values.end(), warp_size, bits);
    out_.constants.defined.insert(out_.constants.defined.end(), warp_size, 0xFF);
  }
  return at->second;
}

operand decoder::lower(ast::operand const& o, type t, bool is_destination) {
  auto const width = static_cast<std::uint8_t>(std::max(1u, bytes_of(t)));
  if (o.kind == operand_kind::sink && is_destination) {
    out.with.has_sink = true;
    return {place::frame, width, sink_slot, 0};
  }
  if (o.kind == operand_kind::name) {
    if (symbol const* s = names_.find(o.name)) {
      if (is_destination && s->kind != symbol_kind::reg) { fail("not a register: " + std::string(o.name)); }
      if (s->kind == symbol_kind::reg) { check_width(*s, t, o.name); }
      return symbol_operand(*s, o);
    }
    if (o.name == "WARP_SZ") { return {place::constant, width, constant(warp_size), 0}; }
    special const r = special_named(o.name);
    if (r == special::count || is_destination) { fail("unknown name " + std::string(o.name)); }
    if (is_clock(r) && base() != "mov") { fail("only mov reads a clock"); }
    return {place::special, row(r).bytes, static_cast<std::uint32_t>(r), 0};
  }
  bool const is_number =
      o.kind == operand_kind::integer || o.kind == operand_kind::real32 || o.kind == operand_kind::real64;
  if (is_destination || !is_number) { fail("wrong kind of operand"); }
  return {place::constant, width, constant(number_bits(o, t)), 0};
}

/// Addresses, whose type is none, are 32 or 64 bits wide.
void decoder::check_width(symbol const& s, type t, std::string_view name) const {
  unsigned const has = bits_of(s.type_of), wants = bits_of(t);
  bool const right = t == type::none ? has == 32 || has == 64 : has == wants || (wide_registers() && has > wants);
  if (!right) { fail("register " + std::string(name) + " has " + std::to_string(has) + " bits"); }
}

operand decoder::symbol_operand(symbol const& s, ast::operand const& o) {
  switch (s.kind) {
    case symbol_kind::reg:
      return {place::frame, static_cast<std::uint8_t>(std::max(1u, bytes_of(s.type_of))), s.slot, o.offset};
    case symbol_kind::constant:
      return {place::constant, 8, constant(s.value + static_cast<std::uint64_t>(o.offset)), 0};
    case symbol_kind::function: return {place::constant, 8, constant(code_window + 16 * s.value), 0};
    case symbol_kind::local: return {place::frame, 8, local_base_slot, static_cast<std::int64_t>(s.value) + o.offset};
    case symbol_kind::dynamic_shared:
      return {place::special, 8, static_cast<std::uint32_t>(special::dynamic_shared_base), o.offset};
    case symbol_kind::kernel_parameter: {
      auto const at = static_cast<std::int64_t>(function_->info.parameters[s.value].offset);
      return {place::special, 8, static_cast<std::uint32_t>(special::parameter_base), at + o.offset};
    }
    case symbol_kind::frame_parameter: fail("the address of a function's parameter is not supported");
    default: fail("not a value: " + std::string(o.name));
  }
}

std::uint32_t decoder::label(std::string_view name) {
  auto const number = names_.label_number(name);
  if (!number) { fail("unknown label"); }
  return *number;
}

std::uint32_t decoder::target_list(std::string_view name) {
  symbol const* s = names_.find(name);
  if (s == nullptr || s->kind != symbol_kind::targets) { fail("not a list of targets: " + std::string(name)); }
  return static_cast<std::uint32_t>(s->value);
}

bool decoder::next_is_predicate() {
  symbol const* s = names_.find(peek().name);
  return s != nullptr && s->kind == symbol_kind::reg && s->type_of == type::pred;
}

bool decoder::frame_parameter(std::string_view name, frame_bytes& where) {
  symbol const* s = names_.find(name);
  if (s == nullptr || s->kind != symbol_kind::frame_parameter) { return false; }
  where = s->bytes;
  return true;
}

bool decoder::kernel_parameter(std::string_view name, parameter_info& where) {
  symbol const* s = names_.find(name);
  if (s == nullptr || s->kind != symbol_kind::kernel_parameter) { return false; }
  where = function_->info.parameters[s->value];
  return true;
}

/// A .param variable, a register or a number in a call's list.
frame_bytes decoder::argument(ast::operand const& o) {
  frame_bytes where;
  if (o.kind == operand_kind::name && frame_parameter(o.name, where)) { return where; }
  symbol const* s = o.kind == operand_kind::name ? names_.find(o.name) : nullptr;
  if (s != nullptr && s->kind == symbol_kind::reg) { return {s->slot, std::max(1u, bytes_of(s->type_of)), false}; }
  if (o.kind == operand_kind::name) { fail("not an argument: " + std::string(o.name)); }
  return {constant(o.bits), 0, true};
}

/// call (results), target, (arguments), prototype;  results and arguments may be missing.
std::uint32_t decoder::call_site(form& f) {
  ptx::call_site site;
  auto const list = [&](std::vector<frame_bytes>& to) {
    ast::operand const written = f.skip();
    for (ast::operand const& part : written.parts) { to.push_back(argument(part)); }
  };
  if (f.peek().kind == operand_kind::list) { list(site.results); }
  ast::operand const callee = f.peek();
  symbol const* s = names_.find(callee.name);
  if (s != nullptr && s->kind == symbol_kind::function) {
    f.skip();
    site.callee = static_cast<std::int32_t>(s->value);
    function_->callees.push_back(static_cast<std::uint32_t>(s->value));
  } else {
    f.source(type::b64);
  }
  if (f.operands_left() != 0 && f.peek().kind == operand_kind::list) { list(site.arguments); }
  if (f.operands_left() != 0) { f.skip(); }  // the prototype; the callee's own declaration is checked at the call
  function_->calls = true;
  out_.calls.push_back(std::move(site));
  return static_cast<std::uint32_t>(out_.calls.size() - 1);
}

std::string decoder::where() const {
  if (item_ == nullptr) { return {}; }
  return " (PTX line " + std::to_string(item_->line) + ": " + std::string(item_->text) + ")";
}

}  // namespace

std::unique_ptr<program> decode(ast::module text, target const& which, opcode_table const& opcodes, memory& device) {
  target const made_for = target::parse(text.target);
  if (!runs_on(which, made_for)) { throw error("PTX for " + made_for.name() + " does not run on " + which.name()); }
  auto out = std::make_unique<program>();
  out->text = std::move(text);
  place_variables(*out, device);
  decoder(*out, made_for, opcodes).run();
  initialise_variables(*out, device);
  return out;
}

}  // namespace ptx
