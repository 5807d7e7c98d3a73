// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A kernel of a few lines, run for what it writes and for what the checks find in it.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "machine.hpp"

namespace one_kernel {

using ptx::problem;

/// A kernel with %t = %tid.x, %out = its parameter, and a word for each thread at [%mine].
inline std::string kernel(std::string const& body, std::string const& before = "") {
  return ".version 8.0\n.target sm_90\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 p) {\n"
         ".reg .pred %p<8>; .reg .b32 %t; .reg .b32 %r<16>; .reg .b64 %out; .reg .b64 %mine; .reg .b64 %d<8>;\n"
         ".shared .align 4 .b8 memory[4096];\n"
         "ld.param.u64 %out, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %mine, %t, 4; add.s64 %mine, %mine, %out;\n" +
         body + "\nret;\n}\n";
}

struct result {
  std::vector<std::uint32_t> words;
  ptx::launch_report report;
  /// Whether the launch ended with this kind of finding.
  [[nodiscard]] bool found(problem kind) const { return report.problem && report.problem->kind == kind; }
  [[nodiscard]] std::string message() const { return report.problem ? report.problem->message : ""; }
};

inline result run(std::string const& text, std::uint32_t threads = 32, std::uint32_t blocks = 1) {
  ptx::machine gpu(ptx::target::parse("sm_90"));
  ptx::module_id const module = gpu.load(text);
  std::vector<std::uint32_t> words(1024);
  std::uint64_t const out = gpu.device_memory().allocate(4096);
  gpu.device_memory().copy_in(out, words.data(), 4096);
  ptx::launch_request request{"k", {blocks, 1, 1}, {threads, 1, 1}};
  request.parameters.resize(8);
  std::memcpy(request.parameters.data(), &out, 8);
  result r{words, gpu.launch(module, request)};
  gpu.device_memory().copy_out(r.words.data(), out, 4096);
  return r;
}

/// What the checks find in a kernel's body; nothing when it is right.
inline std::optional<problem> found(std::string const& body, std::uint32_t threads = 32, std::uint32_t blocks = 1,
                                    std::string const& before = "") {
  result const r = run(kernel(body, before), threads, blocks);
  return r.report.problem ? std::optional(r.report.problem->kind) : std::nullopt;
}

}  // namespace one_kernel
