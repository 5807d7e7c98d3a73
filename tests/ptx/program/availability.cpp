// SPDX-License-Identifier: Apache-2.0
#include "program/availability.hpp"

#include <algorithm>
#include <cctype>

namespace ptx {
namespace {

struct rule {
  std::string_view opcode;     ///< without modifiers
  std::string_view modifiers;  ///< this sequence of modifiers; empty for every form
  std::size_t operands;        ///< this many; 0 for any number
  std::string_view targets;  ///< "89" and later, or "100af": only with one of these suffixes; several are alternatives
};

constexpr std::string_view blackwell = "100af 103af 110af 120af 121af";
constexpr std::string_view stochastic = "100a 103a";
constexpr std::string_view datacenter = "100af 103af 110af";
constexpr std::string_view geforce = "120af 121af";

// The first rule that fits decides. What no rule names exists since sm_80. Found with ptxas 13.0, form by form.
constexpr rule rules[] = {
    {"cvt", ".rs", 0, stochastic},
    {"cvt", ".e2m1x2", 0, blackwell},
    {"cvt", ".e2m3x2", 0, blackwell},
    {"cvt", ".e3m2x2", 0, blackwell},
    {"cvt", ".ue8m0x2", 0, blackwell},
    {"cvt", ".e4m3x2", 0, "89"},
    {"cvt", ".e5m2x2", 0, "89"},
    {"cvt", ".bf16.u8", 0, "90"},
    {"cvt", ".bf16.s8", 0, "90"},
    {"cvt", ".bf16.u16", 0, "90"},
    {"cvt", ".bf16.s16", 0, "90"},
    {"cvt", ".bf16.u32", 0, "90"},
    {"cvt", ".bf16.s32", 0, "90"},
    {"cvt", ".bf16.u64", 0, "90"},
    {"cvt", ".bf16.s64", 0, "90"},
    {"cvt", ".bf16.f64", 0, "90"},
    {"cvt", ".bf16.f16", 0, "90"},
    {"cvt", ".f64.bf16", 0, "90"},
    {"cvt", ".f16.bf16", 0, "90"},
    {"add", ".f32x2", 0, "100"},
    {"sub", ".f32x2", 0, "100"},
    {"mul", ".f32x2", 0, "100"},
    {"fma", ".f32x2", 0, "100"},
    {"add", ".f32.f16", 0, "100"},
    {"add", ".f32.bf16", 0, "100"},
    {"sub", ".f32.f16", 0, "100"},
    {"sub", ".f32.bf16", 0, "100"},
    {"fma", ".f32.f16", 0, "100"},
    {"fma", ".f32.bf16", 0, "100"},
    {"add", ".bf16", 0, "90"},
    {"sub", ".bf16", 0, "90"},
    {"mul", ".bf16", 0, "90"},
    {"add", ".bf16x2", 0, "90"},
    {"sub", ".bf16x2", 0, "90"},
    {"mul", ".bf16x2", 0, "90"},
    {"add", ".u16x2", 0, "90"},
    {"add", ".s16x2", 0, "90"},
    {"min", ".f32", 4, "100"},
    {"max", ".f32", 4, "100"},
    {"min", ".xorsign.abs", 0, "86"},
    {"max", ".xorsign.abs", 0, "86"},
    {"min", ".u16x2", 0, "90"},
    {"min", ".s16x2", 0, "90"},
    {"max", ".u16x2", 0, "90"},
    {"max", ".s16x2", 0, "90"},
    {"min", ".relu.s32", 0, "90"},
    {"max", ".relu.s32", 0, "90"},
    {"ex2", ".bf16", 0, "90"},
    {"ex2", ".bf16x2", 0, "90"},
    {"redux", ".f32", 0, "100af 103af"},
    {"elect", "", 0, "90"},
    {"ld", ".v8", 0, "100"},
    {"st", ".v8", 0, "100"},
    {"ld", ".v4.b64", 0, "100"},
    {"st", ".v4.b64", 0, "100"},
    {"ld", ".b128", 0, "70"},
    {"atom", ".b128", 0, "90"},
    {"atom", ".v2", 0, "90"},
    {"atom", ".v4", 0, "90"},
    {"atom", ".v8", 0, "90"},
    {"red", ".v2", 0, "90"},
    {"red", ".v4", 0, "90"},
    {"red", ".v8", 0, "90"},
    {"atom", ".bf16", 0, "90"},
    {"atom", ".bf16x2", 0, "90"},
    {"red", ".bf16", 0, "90"},
    {"red", ".bf16x2", 0, "90"},
    {"fence", ".acquire", 0, "90"},
    {"fence", ".release", 0, "90"},
    {"fence", ".proxy.async", 0, "90"},
    {"fence", ".mbarrier_init", 0, "90"},
    {"barrier", ".cluster", 0, "90"},
    {"griddepcontrol", "", 0, "90"},
    {"mapa", "", 0, "90"},
    {"mbarrier", ".try_wait", 0, "90"},
    {"mbarrier", ".cluster", 0, "90"},
    {"mbarrier", ".shared::cluster", 0, "90"},
    {"mbarrier", ".relaxed", 0, "90"},
    {"mbarrier", ".noComplete", 0, "80"},
    {"mbarrier", ".arrive", 3, "90"},
    {"mbarrier", ".arrive_drop", 3, "90"},
    {"getctarank", "", 0, "90"},
    {"setmaxnreg", "", 0, "90a 100af 103af 110af 120af 121af"},
    {"stmatrix", ".b8", 0, blackwell},
    {"stmatrix", "", 0, "90"},
    {"ldmatrix", ".m16n16", 0, blackwell},
    {"ldmatrix", ".m8n16", 0, blackwell},
    {"mma", ".kind::mxf4nvf4", 0, geforce},
    {"mma", ".kind::mxf4", 0, geforce},
    {"mma", ".kind::mxf8f6f4", 0, geforce},
    {"mma", ".kind::f8f6f4", 0, geforce},
    {"mma", ".e4m3", 0, "89"},
    {"mma", ".e5m2", 0, "89"},
    {"cp", ".async.bulk", 0, "90"},
    {"tcgen05", "", 0, datacenter},
    {"wgmma", "", 0, "90a"},
};

/// Whether the opcode contains a modifier sequence as whole words.
bool contains(std::string_view opcode, std::string_view words) {
  for (std::size_t at = opcode.find(words); at != std::string_view::npos; at = opcode.find(words, at + 1)) {
    std::size_t const end = at + words.size();
    if (end == opcode.size() || opcode[end] == '.') { return true; }
  }
  return words.empty();
}

bool fits(std::string_view targets, target const& which) {
  if (targets.find_first_of("af") == std::string_view::npos) { return which.number >= std::stoi(std::string(targets)); }
  while (!targets.empty()) {
    std::string_view const one = targets.substr(0, targets.find(' '));
    targets.remove_prefix(std::min(one.size() + 1, targets.size()));
    std::size_t const letters = one.find_first_not_of("0123456789");
    bool const same = which.number == std::stoi(std::string(one.substr(0, letters)));
    if (same && which.suffix != 0 && one.find(which.suffix, letters) != std::string_view::npos) { return true; }
  }
  return false;
}

}  // namespace

std::string refusal(std::string_view opcode, std::size_t operands, target const& which) {
  std::string_view const base = opcode.substr(0, opcode.find('.'));
  for (rule const& r : rules) {
    if (base != r.opcode || !contains(opcode, r.modifiers)) { continue; }
    if (r.operands != 0 && r.operands != operands) { continue; }
    if (fits(r.targets, which)) { return {}; }
    return which.name() + " has no " + std::string(base) + std::string(r.modifiers) + " (needs sm_" +
           std::string(r.targets) + ")";
  }
  return {};
}

bool runs_on(target const& device, target const& made_for) {
  auto const family = [](int number) { return number == 121 ? 120 : number == 103 ? 100 : number; };
  if (made_for.suffix == 'a') { return device.number == made_for.number && device.suffix == 'a'; }
  if (made_for.suffix == 'f') {
    return family(device.number) == family(made_for.number) && device.number >= made_for.number && device.suffix != 0;
  }
  return device.number >= made_for.number;
}

target target::parse(std::string_view text) {
  std::string_view digits = text.substr(std::min(text.find('_'), text.size() - 1) + 1);
  target t;
  t.number = 0;
  while (!digits.empty() && std::isdigit(static_cast<unsigned char>(digits[0])) != 0 && t.number < 1000) {
    t.number = 10 * t.number + (digits[0] - '0');
    digits.remove_prefix(1);
  }
  if (digits == "a" || digits == "f") {
    t.suffix = digits[0];
    digits.remove_prefix(1);
  }
  bool const prefix = text.substr(0, 3) == "sm_" || text.substr(0, 8) == "compute_";
  if (!prefix || !digits.empty() || t.number < 50) { throw error("not a target: " + std::string(text)); }
  return t;
}

std::string target::name() const {
  return "sm_" + std::to_string(number) + (suffix != 0 ? std::string(1, suffix) : std::string());
}

}  // namespace ptx
