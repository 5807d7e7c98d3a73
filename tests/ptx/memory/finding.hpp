// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace ptx {

/// What the interpreter refuses: PTX it does not know, a launch that cannot be, a wrong address to free.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class problem : std::uint8_t {
  out_of_bounds,   ///< no live allocation holds all the bytes
  use_after_free,  ///< the allocation was freed
  read_only,       ///< a kernel writes to .const or .param
  misaligned,      ///< the address is no multiple of the access's size
  undefined,       ///< bytes that nobody has written are computed with
  race,            ///< two threads touch a byte, one writes, and nothing orders them
  barrier,         ///< a barrier or warp operation that not all named lanes reach
  trap,            ///< trap, a failed assertion
  timeout          ///< nothing makes progress
};

/// The name that reports print, e.g. "out of bounds".
char const* name(problem kind);

/// A kernel's name as C++ writes it.
std::string readable(std::string const& mangled);

/// One finding of a check. The memory layer fills what it knows; the interpreter adds kernel, lines and texts.
struct finding {
  problem kind{};
  std::string message;                  ///< what happened, without where
  std::uint32_t block = 0, thread = 0;  ///< linear indices
  std::uint32_t instruction = 0;        ///< of the access, as given in the request
  bool has_other = false;               ///< the three fields below are set (races)
  std::uint32_t other_block = 0, other_thread = 0;
  std::uint32_t other_instruction = 0;
  std::string kernel;       ///< filled by the interpreter, as all below
  int line = 0;             ///< in the PTX text, from 1
  std::string text;         ///< of the instruction
  std::string source;       ///< file:line, where the PTX has .loc; of inlined code also the lines that it came from
  std::string other_where;  ///< of the other party: PTX line, text, source

  /// Several lines, for people.
  [[nodiscard]] std::string report() const;
};

/// Thrown by a checked access; stops the launch.
struct fault : std::runtime_error {
  explicit fault(finding f) : std::runtime_error(f.message), what_happened(std::move(f)) {}
  finding what_happened;
};

}  // namespace ptx
