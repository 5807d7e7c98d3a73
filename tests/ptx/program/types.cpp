// SPDX-License-Identifier: Apache-2.0
#include "program/types.hpp"

#include <iterator>

namespace ptx {
namespace {

constexpr type_row rows[] = {
    {"", 0, '-'},        {"pred", 1, 'p'},    {"b8", 8, 'b'},       {"u8", 8, 'u'},      {"s8", 8, 's'},
    {"b16", 16, 'b'},    {"u16", 16, 'u'},    {"s16", 16, 's'},     {"b32", 32, 'b'},    {"u32", 32, 'u'},
    {"s32", 32, 's'},    {"b64", 64, 'b'},    {"u64", 64, 'u'},     {"s64", 64, 's'},    {"b128", 128, 'b'},
    {"f16", 16, 'f'},    {"bf16", 16, 'f'},   {"f32", 32, 'f'},     {"tf32", 32, 'f'},   {"f64", 64, 'f'},
    {"f16x2", 32, 'x'},  {"bf16x2", 32, 'x'}, {"u16x2", 32, 'x'},   {"s16x2", 32, 'x'},  {"f32x2", 64, 'x'},
    {"e4m3", 8, 'f'},    {"e5m2", 8, 'f'},    {"e2m3", 8, 'f'},     {"e3m2", 8, 'f'},    {"e2m1", 8, 'f'},
    {"ue8m0", 8, 'f'},   {"ue4m3", 8, 'f'},   {"e4m3x2", 16, 'x'},  {"e5m2x2", 16, 'x'}, {"e2m3x2", 16, 'x'},
    {"e3m2x2", 16, 'x'}, {"e2m1x2", 8, 'x'},  {"ue8m0x2", 16, 'x'}, {"e4m3x4", 32, 'x'}, {"e5m2x4", 32, 'x'},
    {"e2m3x4", 32, 'x'}, {"e3m2x4", 32, 'x'}, {"e2m1x4", 16, 'x'},
};
static_assert(std::size(rows) == static_cast<std::size_t>(type::count));

}  // namespace

type_row const& row(type t) { return rows[static_cast<int>(t)]; }

type type_named(std::string_view name) {
  for (int i = 1; i < static_cast<int>(type::count); ++i) {
    if (rows[i].name == name) { return static_cast<type>(i); }
  }
  return type::none;
}

}  // namespace ptx
