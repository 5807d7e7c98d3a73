// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "program/program.hpp"

namespace ptx {

enum class symbol_kind : std::uint8_t {
  reg,               ///< slot, type_of
  constant,          ///< value: an address known now
  function,          ///< value: its number
  local,             ///< value: offset in the function's local memory
  dynamic_shared,    ///< `extern .shared`: after the kernel's static shared memory
  kernel_parameter,  ///< value: its number
  frame_parameter,   ///< bytes: where in the frame
  targets            ///< value: number of a target list
};

struct symbol {
  symbol_kind kind = symbol_kind::reg;
  type type_of = type::none;
  std::uint32_t slot = 0;
  std::uint64_t value = 0;
  frame_bytes bytes{};
};

/// What names mean: the module's, and those of the braces that are open. Labels may be used before they are placed.
class scopes {
 public:
  scopes() : stack_(1) {}

  void add(std::string_view name, symbol const& s) { stack_.back().names[name] = s; }
  /// name0, name1, ... in consecutive slots.
  void add_range(std::string_view prefix, symbol const& first, std::uint32_t count);
  /// The innermost meaning; nullptr for an unknown name.
  [[nodiscard]] symbol const* find(std::string_view name);

  /// Notes the labels of a function, in all its braces.
  void enter_function(std::vector<ast::item> const& body);
  void leave_function() { stack_.resize(1); }
  void open();
  void close() { stack_.pop_back(); }

  void place_label(std::string_view name, std::uint32_t at);
  /// Nothing for a label that the open braces do not have.
  [[nodiscard]] std::optional<std::uint32_t> label_number(std::string_view name) const;
  [[nodiscard]] std::uint32_t label_place(std::uint32_t number) const { return places_[number]; }

 private:
  struct range {
    symbol first{};
    std::uint32_t count = 0;
  };
  struct scope {
    std::unordered_map<std::string_view, symbol> names{};
    std::unordered_map<std::string_view, range> ranges{};
    std::size_t number = 0;
  };

  std::vector<scope> stack_;
  std::vector<std::unordered_map<std::string_view, std::uint32_t>> labels_{};  // by scope, in order of opening
  std::vector<std::uint32_t> places_{};
  std::size_t opened_ = 0;
  symbol from_range_{};
};

}  // namespace ptx
