// SPDX-License-Identifier: Apache-2.0
#include "execute/grid.hpp"

#include <deque>

#include "execute/block.hpp"

namespace ptx {
namespace {

void check(function_code const& kernel, launch_request const& r) {
  kernel_info const& info = kernel.info;
  auto const refuse = [&](std::string const& what) { throw error("launch of " + info.name + ": " + what); };
  if (r.grid.count() == 0 || r.block.count() == 0) { refuse("empty grid or block"); }
  if (r.block.count() > 1024) { refuse(std::to_string(r.block.count()) + " threads in a block"); }
  if (r.block.count() > static_cast<std::uint64_t>(info.max_threads)) {
    refuse(std::to_string(r.block.count()) + " threads in a block, the kernel is made for at most " +
           std::to_string(info.max_threads));
  }
  if (r.grid.y > 65535 || r.grid.z > 65535 || r.grid.x > 0x7FFFFFFF || r.block.z > 64) { refuse("dimensions"); }
  if (r.cluster.count() > 1 || info.cluster.x * info.cluster.y * info.cluster.z > 1) {
    refuse("clusters of several blocks are not supported");
  }
  if (r.parameters.size() != info.parameter_bytes) {
    refuse(std::to_string(r.parameters.size()) + " bytes of parameters instead of " +
           std::to_string(info.parameter_bytes));
  }
}

/// Device memory for the time of a launch.
class borrowed {
 public:
  borrowed(memory& from, std::uint64_t size, allocation_kind kind) : from_(from) {
    if (size != 0) { address_ = from.allocate(size, kind); }
  }
  ~borrowed() {
    if (address_ != 0) { from_.free(address_); }
  }
  borrowed(borrowed const&) = delete;
  borrowed& operator=(borrowed const&) = delete;
  [[nodiscard]] std::uint64_t address() const { return address_; }

 private:
  memory& from_;
  std::uint64_t address_ = 0;
};

/// Blocks start in index order. One runs until it ends or waits for others; then the next has its turn.
void run_blocks(launch_state& launch) {
  std::uint64_t const count = launch.request.grid.count();
  std::size_t const most = launch.request.cooperative ? count : launch.options.resident_blocks;
  std::deque<std::unique_ptr<block>> resident;
  std::uint64_t next = 0;
  while (next < count || !resident.empty()) {
    if (resident.size() < most && next < count) { resident.push_front(std::make_unique<block>(launch, next++)); }
    bool const ended = resident.front()->run();
    std::uint64_t const limit = launch.options.step_limit;
    if (!ended && limit != 0 && launch.warp_instructions * warp_size > limit) {
      throw fault(
          resident.front()->stuck(problem::timeout, "more than " + std::to_string(limit) + " thread instructions:"));
    }
    if (!ended) { resident.push_back(std::move(resident.front())); }
    resident.pop_front();
  }
}

/// "header.h:12", and where that was inlined, up to the kernel's own line.
std::string source_of(program const& code, origin const& o, char const* separator) {
  std::string text;
  for (std::uint32_t at = o.location; at != 0; at = code.text.locations[at].inlined_at) {
    ast::location const& l = code.text.locations[at];
    for (auto const& [number, name] : code.text.files) {
      if (number != l.file) { continue; }
      text += (text.empty() ? "" : separator) + std::string(name) + ":" + std::to_string(l.line);
    }
  }
  return text;
}

void complete(finding& f, program const& code, function_code const& kernel) {
  f.kernel = std::string(kernel.name);
  if (f.instruction < code.origins.size()) {
    origin const& o = code.origins[f.instruction];
    f.line = o.line;
    f.text = std::string(o.text);
    f.source = source_of(code, o, "\n  inlined at ");
  }
  if (f.has_other && f.other_instruction < code.origins.size()) {
    origin const& o = code.origins[f.other_instruction];
    f.other_where = "PTX line " + std::to_string(o.line) + ": " + std::string(o.text);
    if (std::string const s = source_of(code, o, ", inlined at "); !s.empty()) { f.other_where += " (" + s + ")"; }
  }
}

}  // namespace

launch_report run_grid(program const& code, function_code const& kernel, launch_request const& request,
                       machine_options const& options, memory& device) {
  check(kernel, request);
  borrowed const parameters(device, request.parameters.size(), allocation_kind::constant);
  borrowed const workspace(device, request.cooperative ? 64 : 0, allocation_kind::device);
  launch_state launch{code, kernel, request, options,
                      launch_memory(device, request.grid.count(), static_cast<std::uint32_t>(request.block.count()))};
  if (parameters.address() != 0) {
    device.copy_in(parameters.address(), request.parameters.data(), request.parameters.size());
  }
  if (workspace.address() != 0) { device.fill(workspace.address(), 0, 64); }
  launch.parameter_base = parameters.address();
  launch.grid_workspace = workspace.address();
  launch.dynamic_shared_base = (static_cast<std::uint32_t>(kernel.info.static_shared) + 15) / 16 * 16;
  launch.counts.assign(code.code.size(), 0);

  launch_report report;
  try {
    run_blocks(launch);
  } catch (fault const& f) {
    report.problem = f.what_happened;
    complete(*report.problem, code, kernel);
  }
  for (std::size_t i = 0; i < launch.counts.size(); ++i) {
    if (launch.counts[i] == 0) { continue; }
    report.instructions[code.kinds[code.origins[i].kind]] += launch.counts[i];
    report.thread_instructions += launch.counts[i];
  }
  report.warp_instructions = launch.warp_instructions;
  report.memory = launch.memory.counts;
  report.registers = kernel.info.registers;
  return report;
}

}  // namespace ptx
