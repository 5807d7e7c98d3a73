// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ptx {

/// What the interpreter itself refuses: syntax, unknown instructions, instructions the target lacks, unknown names.
/// The message holds the PTX line and its text where there is one.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a finding is about; the runtime maps each to the error code a device would give.
enum class finding_kind : std::uint8_t {
  out_of_bounds,        ///< outside every live allocation, or after free
  misaligned,           ///< the address is no multiple of the access's size
  uninitialized,        ///< bytes never written reach arithmetic, a branch or an address
  race,                 ///< two threads touch a byte, nothing orders them
  barrier,              ///< a barrier or warp operation that not all named threads reach
  trap,                 ///< trap, brkpt, or a failed assertion
  illegal_instruction,  ///< reached something that cannot be executed: operands out of range, an unknown call target
  endless               ///< the launch ran longer than it is allowed to
};

/// A fault of the program under test, found while it ran. It ends the launch.
struct finding {
  finding_kind kind = finding_kind::illegal_instruction;
  std::string message;      ///< one sentence
  std::string kernel;       ///< name as in the PTX
  std::string block;        ///< "(x,y,z)"
  std::string thread;       ///< "(x,y,z)"
  int ptx_line = 0;         ///< line of the PTX text, from 1
  std::string ptx_text;     ///< the instruction
  std::string source_file;  ///< from .loc; empty without -lineinfo
  int source_line = 0;

  /// All of the above in a few lines for stderr.
  [[nodiscard]] std::string text() const;
};

}  // namespace ptx
