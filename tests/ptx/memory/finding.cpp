// SPDX-License-Identifier: Apache-2.0
#include "finding.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace ptx {

std::string readable(std::string const& mangled) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> const text{
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free};
  return status == 0 ? text.get() : mangled;
}

char const* name(problem kind) {
  switch (kind) {
    case problem::out_of_bounds: return "out of bounds";
    case problem::use_after_free: return "use after free";
    case problem::read_only: return "write to read-only memory";
    case problem::misaligned: return "misaligned address";
    case problem::undefined: return "undefined bytes";
    case problem::race: return "race";
    case problem::barrier: return "barrier";
    case problem::trap: return "trap";
    case problem::timeout: return "timeout";
  }
  return "?";
}

std::string finding::report() const {
  std::string out = std::string(name(kind)) + ": " + message + "\n  by thread " + std::to_string(thread) +
                    " of block " + std::to_string(block);
  if (!kernel.empty()) { out += " of kernel " + readable(kernel); }
  if (line > 0) { out += "\n  at PTX line " + std::to_string(line) + ": " + text; }
  if (!source.empty()) { out += "\n  from " + source; }
  if (has_other) {
    out += "\n  the other is thread " + std::to_string(other_thread) + " of block " + std::to_string(other_block);
    if (!other_where.empty()) { out += "\n  at " + other_where; }
  }
  return out + "\n";
}

}  // namespace ptx
