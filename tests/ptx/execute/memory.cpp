// SPDX-License-Identifier: Apache-2.0
//
// ld, st, and parameters.
#include "execute/access.hpp"
#include "execute/instructions.hpp"

namespace ptx {
namespace {

/// d.., [a]
void load(warp& w, instruction const& i, lane_set m) {
  int const n = i.count - 1;
  type const t = i.with.first;
  unsigned const each = bytes_of(t);
  request const r = make_request(w, i, n, m, each * static_cast<unsigned>(n));
  w.home().memory().load(w.index(), r, [&](unsigned lane, std::byte const* at, known_bytes known) {
    for (int k = 0; k < n; ++k) {
      unsigned const from = each * static_cast<unsigned>(k);
      load_element(w, i.operands[k], static_cast<int>(lane), t, at + from, known.defined >> from & bytes_mask(each),
                   known.computed >> from & bytes_mask(each));
    }
  });
}

bool is_global(space where, std::uint64_t address) {
  return where == space::global || (where == space::generic && address < shared_window);
}

/// [a], b..  mode: 1 between blocks; CUB sends them values that it later discards
void store(warp& w, instruction const& i, lane_set m) {
  int const n = i.count - 1;
  unsigned const each = bytes_of(i.with.first);
  request const r = make_request(w, i, 0, m, each * static_cast<unsigned>(n));
  w.home().memory().store(w.index(), r, [&](unsigned lane, std::byte* at) {
    known_bytes known = 0;
    for (int k = 0; k < n; ++k) {
      operand const& b = i.operands[1 + k];
      std::memcpy(at + each * static_cast<unsigned>(k), &w.values(b)[lane], each);
      byte_set const bytes = w.defined(b)[lane];
      unsigned const undefined = computed_bytes(bytes) & bytes_mask(each);
      if (undefined != 0 && i.with.mode == 0 && is_global(i.with.where, r.address[lane])) {
        w.fail(i, static_cast<int>(lane), problem::undefined,
               "stores what was computed from bytes that nobody has written");
      }
      known.defined |= (bytes & bytes_mask(each)) << (each * static_cast<unsigned>(k));
      known.computed |= undefined << (each * static_cast<unsigned>(k));
    }
    return known;
  });
}

/// ld.param of a kernel: the same bytes for all lanes. The offset is in the last operand.
void load_kernel_parameter(warp& w, instruction const& i, lane_set m) {
  int const n = i.count - 1;
  unsigned const each = bytes_of(i.with.first);
  auto const& bytes = w.home().launch().request.parameters;
  auto const at = static_cast<std::size_t>(i.operands[n].offset);
  if (at + each * static_cast<unsigned>(n) > bytes.size()) {
    w.fail(i, __builtin_ctz(m), problem::out_of_bounds, "beyond the kernel's parameters");
  }
  int const first = __builtin_ctz(m);
  for (int k = 0; k < n; ++k) {
    operand const& d = i.operands[k];
    load_element(w, d, first, i.with.first, bytes.data() + at + each * static_cast<unsigned>(k), (1u << each) - 1);
    std::uint64_t const value = w.destination(d)[first];
    each_lane(m, [&](int l) { w.destination(d)[l] = value; });
    w.set_defined(d, m);
  }
}

/// A function's parameter: bytes in the frame, eight a slot. `target` is the first byte's number in the frame.
struct frame_place {
  operand slot;
  unsigned shift;  ///< in bits
};
frame_place place_in_frame(instruction const& i, unsigned byte) {
  return {{place::frame, 8, (i.target + byte) / 8, 0}, 8 * ((i.target + byte) % 8)};
}

void load_frame_parameter(warp& w, instruction const& i, lane_set m) {
  unsigned const each = bytes_of(i.with.first);
  for (int k = 0; k < i.count; ++k) {
    frame_place const p = place_in_frame(i, each * static_cast<unsigned>(k));
    each_lane(m, [&](int l) {
      std::uint64_t const value = w.values(p.slot)[l] >> p.shift;
      unsigned const known = w.defined(p.slot)[l] >> (p.shift / 8);
      load_element(w, i.operands[k], l, i.with.first, reinterpret_cast<std::byte const*>(&value),
                   known & bytes_mask(each), known >> 8 & bytes_mask(each));
    });
  }
}

void store_frame_parameter(warp& w, instruction const& i, lane_set m) {
  unsigned const each = bytes_of(i.with.first);
  std::uint64_t const mask = each >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * each)) - 1;
  for (int k = 0; k < i.count; ++k) {
    frame_place const p = place_in_frame(i, each * static_cast<unsigned>(k));
    unsigned const bytes = bytes_mask(each) << (p.shift / 8), both = bytes | bytes << 8;
    each_lane(m, [&](int l) {
      std::uint64_t& to = w.destination(p.slot)[l];
      byte_set& known = w.destination_defined(p.slot)[l];
      to = (to & ~(mask << p.shift)) | (w.values(i.operands[k])[l] & mask) << p.shift;
      byte_set const source = w.defined(i.operands[k])[l];
      byte_set const moved =
          bytes_of_origin(unsigned{source} << (p.shift / 8), computed_bytes(source) << (p.shift / 8));
      known = static_cast<byte_set>((known & ~both) | (moved & both));
    });
  }
}

constexpr named<std::uint8_t> vectors[] = {{"v2", 2}, {"v4", 4}, {"v8", 8}};

/// Order, scope, space, advice, vector and type; true with a cache policy operand.
bool take_access(form& f, bool is_store) {
  f.allow_wide_registers();
  modifiers& with = f.out.with;
  f.take("weak");
  bool const synchronises = f.take(is_store ? "release" : "acquire");
  if (synchronises) { with.ordering = is_store ? order::release : order::acquire; }
  f.take("mmio");  // says .relaxed as well
  if (f.take("volatile") || f.take("relaxed")) { with.ordering = order::relaxed; }
  with.reach = scope::system;
  f.take_one(access_scopes, with.reach);
  if (is_store && f.take("const")) { f.fail("constant memory cannot be written"); }
  f.take_one(access_spaces, with.where);
  f.take("nc");
  f.take("unified");
  f.take_one(vectors, with.vector);
  if (is_store && f.take("cg")) { with.mode = 1; }
  bool const policy = f.take_cache_advice();
  with.first = f.take_type();
  if (with.ordering != order::weak) { f.out.step_cost = polling_cost; }
  return policy;
}

bool names_frame_parameter(form& f, ast::operand const& address) {
  frame_bytes where;
  if (address.kind != ast::operand_kind::address || !f.frame_parameter(address.parts[0].name, where)) { return false; }
  unsigned const size = bytes_of(f.out.with.first) * f.out.with.vector;
  bool const inside = address.offset >= 0 && address.offset + size <= where.bytes;
  bool const aligned = bytes_of(f.out.with.first) != 0 && address.offset % bytes_of(f.out.with.first) == 0;
  if (!inside || !aligned) { f.fail("wrong offset in a parameter"); }
  f.out.target = 8 * where.slot + static_cast<std::uint32_t>(address.offset);
  return true;
}

void take_destinations(form& f, type t) {
  if (t == type::b128) {
    f.destination(t);
    f.split_last();
    f.out.with.first = type::b64;
  } else {
    f.destinations(t, f.out.with.vector);
  }
}

void build_load(form& f) {
  bool const policy = take_access(f, false);
  modifiers& with = f.out.with;
  take_destinations(f, with.first);
  ast::operand const address = f.peek();
  parameter_info parameter;
  if (names_frame_parameter(f, address)) {
    f.skip();
    f.out.run = load_frame_parameter;
  } else {
    bool const direct =
        address.kind == ast::operand_kind::address && f.kernel_parameter(address.parts[0].name, parameter);
    f.address();
    f.out.run = direct ? load_kernel_parameter : load;
  }
  if (policy) { f.skip(); }
}

void build_store(form& f) {
  bool const policy = take_access(f, true);
  modifiers& with = f.out.with;
  if (with.ordering != order::weak) { with.mode = 1; }
  bool const in_frame = names_frame_parameter(f, f.peek());
  in_frame ? static_cast<void>(f.skip()) : f.address();
  if (with.first == type::b128) {
    f.source(type::b128);
    f.split_last();
    with.first = type::b64;
  } else {
    f.sources(with.first, with.vector);
  }
  f.out.run = in_frame ? store_frame_parameter : store;
  if (policy) { f.skip(); }
}

void only_address(warp& w, instruction const& i, lane_set m) { w.require(i, 0, m, bytes_mask(i.operands[0].bytes)); }

/// prefetch: advice, which changes nothing.
void build_advice(form& f) {
  f.take("global") || f.take("local");
  f.take("L1") || f.take("L2");
  f.take_cache_advice();
  f.address();
  f.out.run = only_address;
}

void zero(warp& w, instruction const& i, lane_set m) {
  each_lane(m, [&](int l) { w.destination(i.operands[0])[l] = 0; });
  w.set_defined(i.operands[0], m);
}

/// createpolicy: a cache policy, which nothing looks at.
void build_policy(form& f) {
  f.take("fractional") || f.take("range");
  f.take("global");
  f.take_cache_advice();
  f.take_type();
  f.destination(type::b64);
  while (f.operands_left() != 0) { f.skip(); }
  f.out.run = zero;
}

}  // namespace

void add_memory(opcode_table& t) {
  t.add("ld", build_load);
  t.add("st", build_store);
  t.add("prefetch", build_advice);
  t.add("createpolicy", build_policy);
}

}  // namespace ptx
