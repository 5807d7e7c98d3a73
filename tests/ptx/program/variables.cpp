// SPDX-License-Identifier: Apache-2.0
#include "program/variables.hpp"

#include <algorithm>
#include <cstring>

namespace ptx {
namespace {

std::uint64_t element_bytes(ast::variable const& v) {
  type const t = type_named(v.type);
  if (t == type::none) { throw error("PTX line " + std::to_string(v.line) + ": unknown type ." + std::string(v.type)); }
  return bytes_of(t);
}

std::uint64_t alignment_of(ast::variable const& v) {
  return std::max<std::uint64_t>(v.align, element_bytes(v) * v.vector);
}

std::uint64_t round_up(std::uint64_t n, std::uint64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

bool is_constant(ast::variable const& v) { return v.space == "const"; }

/// Address of a variable or function that an initialiser names.
std::uint64_t address_of(program const& p, std::string_view name) {
  if (auto const at = p.variables.find(name); at != p.variables.end()) { return at->second.address; }
  for (std::size_t i = 0; i < p.functions.size(); ++i) {
    if (p.functions[i].name == name) { return code_window + 16 * i; }
  }
  throw error("an initialiser names " + std::string(name) + ", which does not exist");
}

/// Which byte a mask such as 0xFF00 picks.
unsigned shift_of(std::uint64_t mask) {
  unsigned shift = 0;
  while (shift < 64 && ((mask >> shift) & 0xFF) != 0xFF) { shift += 8; }
  return shift;
}

}  // namespace

std::uint64_t size_of(ast::variable const& v) { return element_bytes(v) * v.vector * v.elements; }

std::uint64_t place_after(std::uint32_t& used, ast::variable const& v) {
  std::uint64_t const at = round_up(used, alignment_of(v));
  used = static_cast<std::uint32_t>(at + size_of(v));
  return at;
}

symbol shared_symbol(ast::variable const& v, std::uint32_t& used) {
  symbol s{symbol_kind::constant};
  if (v.external || v.elements == 0) {
    s.kind = symbol_kind::dynamic_shared;
  } else {
    s.value = place_after(used, v);
  }
  return s;
}

void describe_kernel(ast::function const& f, kernel_info& info) {
  info.name = std::string(f.name);
  for (ast::variable const& v : f.parameters) {
    parameter_info p;
    p.size = size_of(v);
    p.align = alignment_of(v);
    p.offset = round_up(info.parameter_bytes, p.align);
    info.parameter_bytes = p.offset + p.size;
    info.parameters.push_back(p);
  }
  if (f.max_threads != 0) { info.max_threads = static_cast<int>(f.max_threads); }
  info.min_blocks = static_cast<int>(f.min_blocks);
  info.cluster = {f.cluster[0], f.cluster[1], f.cluster[2]};
}

void place_variables(program& p, memory& device) {
  for (ast::variable const& v : p.text.variables) {
    if (v.space != "global" && v.space != "const") { continue; }
    variable_info info;
    info.size = size_of(v);
    info.constant = is_constant(v);
    if (info.size != 0) {
      auto const kind = info.constant ? allocation_kind::constant
                        : v.managed   ? allocation_kind::managed_variable
                                      : allocation_kind::variable;
      info.address = device.allocate(info.size, kind);
    }
    p.variables[std::string(v.name)] = info;
  }
}

void initialise_variables(program& p, memory& device) {
  for (ast::variable const& v : p.text.variables) {
    auto const at = p.variables.find(v.name);
    if (at == p.variables.end() || at->second.size == 0) { continue; }
    std::vector<std::byte> bytes(at->second.size);
    std::uint64_t const each = element_bytes(v);
    for (std::size_t i = 0; i < v.values.size() && (i + 1) * each <= bytes.size(); ++i) {
      ast::initial_value const& value = v.values[i];
      std::uint64_t bits = value.bits;
      if (!value.symbol.empty()) { bits += address_of(p, value.symbol); }
      if (value.mask != 0) { bits >>= shift_of(value.mask); }
      std::memcpy(bytes.data() + i * each, &bits, std::min<std::size_t>(each, sizeof bits));
    }
    device.copy_in(at->second.address, bytes.data(), bytes.size());
  }
}

}  // namespace ptx
