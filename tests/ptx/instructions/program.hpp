// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Runs a few PTX instructions on many inputs and compares what comes out with what the test computed itself.
///
///   check({"add.rn.f32 %d, %a, %b;", "f32 = f32 f32"}, all({f32_values, f32_values}),
///         [](word const* in, word* out) { out[0] = bits(as_float(in[0]) + as_float(in[1])); });

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "machine.hpp"

namespace ptx::test {

using word = std::uint64_t;
using column = std::vector<word>;

/// What an expectation writes where the ISA leaves a result open.
inline constexpr word unspecified = 0xA5A5'DEAD'BEEF'5A5A;

/// One thread's instructions. Its inputs are in the registers %a, %b, %c, %x, %y, %z; it leaves its results in %d, %e,
/// %f, %g. To use freely: %p, %q, %r (predicates), %n<8> (8 bits), %h<8> (16), %t<16> (32), %l<8> (64).
struct program {
  std::string body;
  /// Results = inputs. The number is the width in bits; b compares bits, f and bf take any NaN for any other.
  std::string signature = "b32 = b32 b32";
  std::string target = "sm_90";
  std::string module{};  ///< text before the kernel: variables, functions
  approximate approximation = approximate::exact;
};

/// Rows of input words.
struct table {
  std::size_t width = 0;
  std::vector<word> words{};
  [[nodiscard]] std::size_t rows() const { return words.size() / width; }
  table& operator+=(table const& other) {
    words.insert(words.end(), other.words.begin(), other.words.end());
    return *this;
  }
};

/// All combinations of the columns' values.
inline table all(std::vector<column> const& columns) {
  table t{columns.size()};
  std::size_t count = 1;
  for (column const& c : columns) { count *= c.size(); }
  for (std::size_t row = 0; row < count; ++row) {
    std::size_t rest = row;
    for (column const& c : columns) {
      t.words.push_back(c[rest % c.size()]);
      rest /= c.size();
    }
  }
  return t;
}

/// Random words, the same in every run.
inline table random(std::size_t rows, std::size_t width, word mask = ~word{0}) {
  std::mt19937_64 generator(42);
  table t{width};
  for (std::size_t i = 0; i < rows * width; ++i) { t.words.push_back(generator() & mask); }
  return t;
}

/// 0, 1, ..., count - 1.
inline column range(word count) {
  column c(count);
  for (word i = 0; i < count; ++i) { c[i] = i; }
  return c;
}

struct register_type {
  std::string name;  ///< "f32"
  int bits = 32;
  [[nodiscard]] word mask() const { return bits == 64 ? ~word{0} : (word{1} << bits) - 1; }
  [[nodiscard]] bool is_nan(word w) const {
    if (name == "f16") { return (w & 0x7FFF) > 0x7C00; }
    if (name == "bf16") { return (w & 0x7FFF) > 0x7F80; }
    if (name == "f32") { return (w & 0x7FFF'FFFF) > 0x7F80'0000; }
    return name == "f64" && (w & (~word{0} >> 1)) > word{0x7FF} << 52;
  }
};

struct registers {
  std::vector<register_type> results{}, inputs{};
  explicit registers(std::string const& signature) {
    std::istringstream words(signature);
    std::vector<register_type>* to = &results;
    for (std::string w; words >> w;) {
      if (w == "=") {
        to = &inputs;
      } else {
        to->push_back({w, std::stoi(w.substr(w.find_first_of("0123456789")))});
      }
    }
  }
};

/// The module around a program's body.
inline std::string text_of(program const& p) {
  registers const r(p.signature);
  auto const width = [](register_type const& t) { return ".b" + std::to_string(t.bits); };
  auto const holder = [&](register_type const& t) { return t.bits == 8 ? std::string(".b16") : width(t); };
  std::ostringstream s;
  s << ".version 9.0\n.target " << p.target << "\n.address_size 64\n"
    << p.module << "\n"
    << ".visible .entry test(.param .u64 in, .param .u64 out)\n{\n"
    << ".reg .pred %p, %q, %r;\n.reg .b8 %n<8>;\n.reg .b16 %h<8>;\n.reg .b32 %t<16>, %index<4>;\n"
    << ".reg .b64 %l<8>, %from, %to;\n";
  for (std::size_t i = 0; i < r.inputs.size(); ++i) {
    s << ".reg " << holder(r.inputs[i]) << " %"
      << "abcxyz"[i] << ";\n";
  }
  for (std::size_t i = 0; i < r.results.size(); ++i) {
    s << ".reg " << holder(r.results[i]) << " %"
      << "defg"[i] << ";\n";
  }
  s << "ld.param.u64 %from, [in];\nld.param.u64 %to, [out];\n"
    << "mov.u32 %index0, %ctaid.x;\nmov.u32 %index1, %ntid.x;\nmov.u32 %index2, %tid.x;\n"
    << "mad.lo.u32 %index3, %index0, %index1, %index2;\n"
    << "mad.wide.u32 %from, %index3, " << 8 * r.inputs.size() << ", %from;\n"
    << "mad.wide.u32 %to, %index3, " << 8 * r.results.size() << ", %to;\n";
  for (std::size_t i = 0; i < r.inputs.size(); ++i) {
    s << "ld.global" << width(r.inputs[i]) << " %"
      << "abcxyz"[i] << ", [%from+" << 8 * i << "];\n";
  }
  s << p.body << "\n";
  for (std::size_t i = 0; i < r.results.size(); ++i) {
    s << "st.global" << width(r.results[i]) << " [%to+" << 8 * i << "], %"
      << "defg"[i] << ";\n";
  }
  s << "ret;\n}\n";
  return s.str();
}

template <class T>
void put_parameter(std::vector<std::byte>& parameters, T value) {
  parameters.resize((parameters.size() + sizeof value - 1) / sizeof value * sizeof value);
  auto const* const bytes = reinterpret_cast<std::byte const*>(&value);
  parameters.insert(parameters.end(), bytes, bytes + sizeof value);
}

/// Runs any module whose kernel is test(in, out). Empty, and a failed check, when something is refused or found.
inline std::vector<std::uint8_t> run(std::string const& text, std::string const& target, void const* in,
                                     std::size_t in_bytes, std::size_t out_bytes, unsigned blocks, unsigned threads,
                                     approximate approximation = approximate::exact) {
  try {
    machine gpu(target::parse(target), {approximation});
    auto const module = gpu.load(text);
    memory& m = gpu.device_memory();
    std::uint64_t const from = m.allocate(in_bytes + 8), to = m.allocate(out_bytes);
    m.copy_in(from, in, in_bytes);
    m.fill(to, 0, out_bytes);
    launch_request request{"test", {blocks, 1, 1}, {threads, 1, 1}};
    put_parameter(request.parameters, from);
    put_parameter(request.parameters, to);
    auto const report = gpu.launch(module, request);
    std::vector<std::uint8_t> result(out_bytes);
    if (report.problem) {
      FAIL_CHECK(report.problem->report());
      return {};
    }
    m.copy_out(result.data(), to, out_bytes);
    return result;
  } catch (error const& e) {
    FAIL_CHECK(e.what());
    return {};
  }
}

/// The results of every row.
inline std::vector<word> run(program const& p, table const& rows, unsigned threads = 64) {
  registers const r(p.signature);
  std::size_t const blocks = (rows.rows() + threads - 1) / threads, padded = blocks * threads;
  std::vector<word> in = rows.words;
  while (in.size() < padded * r.inputs.size()) { in.push_back(rows.words[in.size() % rows.width]); }
  INFO(p.body << " on " << p.target);
  auto const bytes = run(text_of(p), p.target, in.data(), 8 * in.size(), 8 * padded * r.results.size(),
                         static_cast<unsigned>(blocks), threads, p.approximation);
  std::vector<word> out(bytes.size() / 8);
  if (!bytes.empty()) { std::memcpy(out.data(), bytes.data(), bytes.size()); }
  return out;
}

using expectation = std::function<void(word const* in, word* out)>;

/// Runs the program on every row and compares all results; says how many differ, and shows some of them.
inline void check(program const& p, table const& rows, expectation const& expect, unsigned threads = 64) {
  auto const got = run(p, rows, threads);
  if (got.empty()) { return; }
  registers const r(p.signature);
  std::size_t const n = r.results.size();
  std::size_t wrong = 0;
  std::ostringstream shown;
  shown << std::hex;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    word const* const in = rows.words.data() + row * rows.width;
    word want[4]{};
    expect(in, want);
    for (std::size_t i = 0; i < n; ++i) {
      register_type const& t = r.results[i];
      word const g = got[row * n + i], w = want[i] & t.mask();
      if (want[i] == unspecified || g == w || (t.is_nan(g) && t.is_nan(w))) { continue; }
      if (++wrong > 6) { continue; }
      shown << "\n  row " << std::dec << row << std::hex << ", inputs";
      for (std::size_t k = 0; k < rows.width; ++k) { shown << " " << (in[k] & r.inputs[k].mask()); }
      shown << ": result "
            << "defg"[i] << " is " << g << ", should be " << w;
    }
  }
  INFO(p.body << " on " << p.target << ": " << wrong << " of " << rows.rows() << " rows differ" << shown.str());
  CHECK(wrong == 0);
}

/// The same for one result of one, two or three inputs: f(word), f(word, word) or f(word, word, word).
template <class F>
void check_each(program const& p, table const& rows, F f) {
  check(p, rows, [&](word const* in, [[maybe_unused]] word* out) {
    if constexpr (std::is_invocable_v<F, word, word, word>) {
      out[0] = static_cast<word>(f(in[0], in[1], in[2]));
    } else if constexpr (std::is_invocable_v<F, word, word>) {
      out[0] = static_cast<word>(f(in[0], in[1]));
    } else {
      out[0] = static_cast<word>(f(in[0]));
    }
  });
}

}  // namespace ptx::test
