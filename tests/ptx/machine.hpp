// SPDX-License-Identifier: Apache-2.0
//
// A GPU made of CPU: loads PTX text, runs its kernels instruction by instruction and checks every access.
//
//   ptx::machine gpu{ptx::target::parse("sm_100a")};
//   auto const module = gpu.load(ptx_text);
//   auto const report = gpu.launch(module, {"_Z4vaddPKfS0_Pfi", {blocks, 1, 1}, {256, 1, 1}, {}, 0, parameters});
//   if (report.problem) { std::cerr << report.problem->text(); }
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/finding.hpp"
#include "memory/memory.hpp"
#include "memory/traffic.hpp"

namespace ptx {

/// The emulated compute capability: sm_100a is {100, 'a'}, sm_90 is {90, 0}.
struct target {
  int number = 90;
  char suffix = 0;  ///< 'a' (this chip only), 'f' (this family) or 0

  /// Reads "sm_100a" or "compute_90".  \throws error for anything else.
  [[nodiscard]] static target parse(std::string_view text);
  [[nodiscard]] std::string name() const;
};

struct dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// Where a kernel parameter lies in the launch's parameter bytes.
struct parameter_info {
  std::size_t offset = 0, size = 0, align = 1;
};

struct kernel_info {
  std::string name;
  std::vector<parameter_info> parameters;
  std::size_t parameter_bytes = 0;  ///< end of the last parameter
  std::size_t static_shared = 0;    ///< bytes of .shared variables of known size
  std::size_t local_bytes = 0;      ///< bytes of .local variables, a thread
  int registers = 0;                ///< an estimate in 32-bit registers: most that are live at once
  int max_threads = 1024;           ///< of a block, from .maxntid
  int min_blocks = 0;               ///< from .minnctapersm
  dim3 cluster{0, 0, 0};            ///< from .reqnctapercluster; zeros without
};

struct variable_info {
  std::uint64_t address = 0;
  std::size_t size = 0;
  bool constant = false;
};

struct launch_request {
  std::string kernel;
  dim3 grid, block;
  dim3 cluster{};
  std::size_t dynamic_shared = 0;
  std::vector<std::byte> parameters{};  ///< laid out as kernel_info::parameters says
  bool cooperative = false;             ///< the whole grid is resident, grid-wide barriers may be used
};

/// What a launch did. Counts are of threads: one instruction of a full warp counts 32.
struct launch_report {
  std::map<std::string, std::uint64_t> instructions;  ///< by kind: "add.f32", "ld.global", "cvt", ...
  std::uint64_t thread_instructions = 0;
  std::uint64_t warp_instructions = 0;
  traffic memory;  ///< bytes by space and width, requests, sectors, bank conflicts
  int registers = 0;
  std::optional<finding> problem;
};

/// How approximate instructions (rcp.approx, ex2.approx, sin.approx, ...) answer: exactly rounded, or that many ulps
/// away from it, so that a test can show that nothing depends on their last bits.
enum class approximate : std::int8_t { below = -1, exact = 0, above = 1 };

struct machine_options {
  approximate approximation = approximate::exact;
  std::uint64_t step_limit = 0;  ///< thread instructions a launch may take; 0 for no limit
  std::size_t resident_blocks = 16;
};

using module_id = std::size_t;

/// A kernel that cannot run here, or not on this target.
struct unsupported : error {
  using error::error;
};

/// One emulated device.
class machine {
 public:
  explicit machine(target which, machine_options options = {});
  ~machine();
  machine(machine&&) noexcept;
  machine& operator=(machine&&) noexcept;

  [[nodiscard]] target const& which() const;
  [[nodiscard]] machine_options& options();
  [[nodiscard]] memory& device_memory();

  /// Parses and decodes a module and gives its variables memory.
  /// \throws error for wrong syntax. What a kernel cannot run with is refused when it is launched.
  module_id load(std::string_view ptx_text);
  /// Gives the module's variables back.
  void unload(module_id module);

  /// \throws error when the module has no such kernel.
  [[nodiscard]] kernel_info const& kernel(module_id module, std::string const& name) const;
  [[nodiscard]] std::vector<std::string> kernels(module_id module) const;
  /// Why the kernel cannot run: an instruction or modifier, in it or in what it calls, that is unknown or that the target
  /// lacks. Empty when it can.
  [[nodiscard]] std::string refusal(module_id module, std::string const& name) const;
  /// A .global or .const variable.  \throws error when there is none of that name.
  [[nodiscard]] variable_info variable(module_id module, std::string const& name) const;

  /// Runs a grid to its end or its first finding.
  /// \throws unsupported for a kernel with a refusal
  /// \throws error for impossible dimensions, wrong parameter bytes, an unknown kernel.
  launch_report launch(module_id module, launch_request const& request);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace ptx
