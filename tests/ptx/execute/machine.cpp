// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <algorithm>

#include "execute/grid.hpp"
#include "execute/instructions.hpp"
#include "program/decoder.hpp"
#include "text/parser.hpp"

namespace ptx {

struct machine::state {
  target which;
  machine_options options;
  memory device{};
  std::vector<std::unique_ptr<program>> modules{};

  [[nodiscard]] program const& module(module_id id) const {
    if (id >= modules.size() || modules[id] == nullptr) { throw error("no such module"); }
    return *modules[id];
  }
};

namespace {

function_code const& find_kernel(program const& p, std::string const& name) {
  for (function_code const& f : p.functions) {
    if (f.entry && f.defined && f.name == name) { return f; }
  }
  throw error("no kernel " + name);
}

/// The first function with a refusal that this one reaches by direct calls; nullptr without.
function_code const* find_refused(program const& p, function_code const& from) {
  std::vector<function_code const*> reached{&from};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (!reached[i]->refused.empty()) { return reached[i]; }
    for (std::uint32_t const callee : reached[i]->callees) {
      function_code const* const f = &p.functions[callee];
      if (std::find(reached.begin(), reached.end(), f) == reached.end()) { reached.push_back(f); }
    }
  }
  return nullptr;
}

}  // namespace

machine::machine(target which, machine_options options) : state_(new state{which, options}) {}
machine::~machine() = default;
machine::machine(machine&&) noexcept = default;
machine& machine::operator=(machine&&) noexcept = default;

target const& machine::which() const { return state_->which; }
machine_options& machine::options() { return state_->options; }
memory& machine::device_memory() { return state_->device; }

module_id machine::load(std::string_view ptx_text) {
  state_->modules.push_back(decode(parse(ptx_text), state_->which, all_instructions(), state_->device));
  return state_->modules.size() - 1;
}

void machine::unload(module_id module) {
  for (auto const& [name, v] : state_->module(module).variables) {
    if (v.size != 0) { state_->device.free(v.address); }
  }
  state_->modules[module].reset();
}

kernel_info const& machine::kernel(module_id module, std::string const& name) const {
  return find_kernel(state_->module(module), name).info;
}

std::vector<std::string> machine::kernels(module_id module) const {
  std::vector<std::string> names;
  for (function_code const& f : state_->module(module).functions) {
    if (f.entry && f.defined) { names.emplace_back(f.name); }
  }
  return names;
}

std::string machine::refusal(module_id module, std::string const& name) const {
  program const& p = state_->module(module);
  function_code const& kernel = find_kernel(p, name);
  function_code const* const f = find_refused(p, kernel);
  if (f == nullptr) { return {}; }
  std::string const caller = f == &kernel ? "" : "in " + readable(std::string(f->name)) + ", which it calls: ";
  return "kernel " + readable(name) + " cannot run: " + caller + f->refused;
}

variable_info machine::variable(module_id module, std::string const& name) const {
  auto const& all = state_->module(module).variables;
  auto const at = all.find(name);
  if (at == all.end()) { throw error("no variable " + name); }
  return at->second;
}

launch_report machine::launch(module_id module, launch_request const& request) {
  program const& p = state_->module(module);
  if (std::string const why = refusal(module, request.kernel); !why.empty()) { throw unsupported(why); }
  return run_grid(p, find_kernel(p, request.kernel), request, state_->options, state_->device);
}

}  // namespace ptx
