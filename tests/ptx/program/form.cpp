// SPDX-License-Identifier: Apache-2.0
#include "program/form.hpp"

#include <algorithm>

namespace ptx {

void form::begin(std::string_view opcode, std::vector<ast::operand> const& operands) {
  out = {};
  modifiers_.clear();
  lowered_.clear();
  wide_registers_ = false;
  written_ = operands;
  next_ = 0;
  std::size_t point = opcode.find('.');
  base_ = opcode.substr(0, point);
  while (point != std::string_view::npos) {
    std::size_t const end = opcode.find('.', point + 1);
    modifiers_.push_back(opcode.substr(point + 1, end == std::string_view::npos ? end : end - point - 1));
    point = end;
  }
}

void form::finish() const {
  if (!modifiers_.empty()) { fail("unknown modifier ." + std::string(modifiers_.front())); }
  if (next_ != written_.size()) { fail("too many operands"); }
}

bool form::take(std::string_view modifier) {
  auto const at = std::find(modifiers_.begin(), modifiers_.end(), modifier);
  if (at == modifiers_.end()) { return false; }
  modifiers_.erase(at);
  return true;
}

bool form::has_type() const {
  return std::any_of(modifiers_.begin(), modifiers_.end(), [](auto m) { return type_named(m) != type::none; });
}

type form::take_type() {
  for (auto at = modifiers_.begin(); at != modifiers_.end(); ++at) {
    if (type const t = type_named(*at); t != type::none) {
      modifiers_.erase(at);
      return t;
    }
  }
  fail("expected a type");
}

ast::operand const& form::peek() const {
  if (next_ == written_.size()) { fail("too few operands"); }
  return written_[next_];
}

ast::operand const& form::skip() {
  ast::operand const& o = peek();
  ++next_;
  return o;
}

void form::append(ast::operand const& o, type t, bool is_destination, bool symbol) {
  operand const place = lower(o, t, is_destination);
  if (place.offset != 0 && !symbol) { fail("an address where a value is expected"); }
  lowered_.push_back(place);
  out.count = static_cast<std::uint8_t>(lowered_.size());
}

void form::destination(type t) { append(skip(), t, true, false); }
void form::source(type t, bool symbol) { append(skip(), t, false, symbol); }

void form::predicate_source() {
  ast::operand const& o = skip();
  append(o, type::pred, false, false);
  lowered_.back().offset = o.negated ? 1 : 0;
}

void form::address() {
  ast::operand const& o = skip();
  if (o.kind != ast::operand_kind::address || o.parts.size() != 1) { fail("expected [address]"); }
  operand base = lower(o.parts[0], type::none, false);
  base.offset += o.offset;
  lowered_.push_back(base);
  out.count = static_cast<std::uint8_t>(lowered_.size());
}

void form::destinations(type t, std::size_t n) {
  ast::operand const& o = skip();
  if (o.kind != ast::operand_kind::vector) {
    if (n != 1) { fail("expected {..}"); }
    append(o, t, true, false);
    return;
  }
  if (o.parts.size() != n) { fail("wrong number of vector elements"); }
  for (ast::operand const& part : o.parts) { append(part, t, true, false); }
}

void form::sources(type t, std::size_t n) {
  ast::operand const& o = skip();
  if (o.kind != ast::operand_kind::vector) {
    if (n != 1) { fail("expected {..}"); }
    append(o, t, false, false);
    return;
  }
  if (o.parts.size() != n) { fail("wrong number of vector elements"); }
  for (ast::operand const& part : o.parts) { append(part, t, false, false); }
}

void form::destination_pair(type first, type second) {
  static ast::operand const nowhere = [] {
    ast::operand o;
    o.kind = ast::operand_kind::sink;
    return o;
  }();
  ast::operand const& d = skip();
  bool const pair = d.kind == ast::operand_kind::pair;
  append(pair ? d.parts[0] : d, first, true, false);
  append(pair ? d.parts[1] : nowhere, second, true, false);
}

void form::number(std::uint64_t value) {
  ast::operand o;
  o.kind = ast::operand_kind::integer;
  o.bits = value;
  append(o, type::b64, false, false);
}

void form::complete(handler h, type result, std::initializer_list<type> sources) {
  if (h == nullptr) { fail("not for this type"); }
  out.run = h;
  destination(result);
  for (type t : sources) { source(t); }
}

void form::split_last() {
  operand second = lowered_.back();
  lowered_.back().bytes = second.bytes = 8;
  if (second.where == place::frame && second.slot != sink_slot) { ++second.slot; }
  lowered_.push_back(second);
  out.count = static_cast<std::uint8_t>(lowered_.size());
}

bool form::take_cache_advice() {
  for (std::string_view word : {"ca", "cg", "cs", "lu", "cv", "wb", "wt"}) { take(word); }
  bool const policy = take("L2::cache_hint");
  auto const advice = [](std::string_view m) { return m.substr(0, 4) == "L1::" || m.substr(0, 4) == "L2::"; };
  modifiers_.erase(std::remove_if(modifiers_.begin(), modifiers_.end(), advice), modifiers_.end());
  return policy;
}

}  // namespace ptx
