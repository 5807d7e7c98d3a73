// SPDX-License-Identifier: Apache-2.0
#include "program/scopes.hpp"

#include <charconv>

namespace ptx {

void scopes::add_range(std::string_view prefix, symbol const& first, std::uint32_t count) {
  stack_.back().ranges[prefix] = {first, count};
}

symbol const* scopes::find(std::string_view name) {
  std::size_t const digits = name.find_last_not_of("0123456789") + 1;
  std::uint32_t index = 0;
  bool const numbered = digits != 0 && digits < name.size() &&
                        std::from_chars(name.data() + digits, name.data() + name.size(), index).ec == std::errc{};
  for (auto s = stack_.rbegin(); s != stack_.rend(); ++s) {
    if (auto const at = s->names.find(name); at != s->names.end()) { return &at->second; }
    if (!numbered) { continue; }
    if (auto const at = s->ranges.find(name.substr(0, digits)); at != s->ranges.end() && index < at->second.count) {
      from_range_ = at->second.first;
      from_range_.slot += index * (bits_of(from_range_.type_of) > 64 ? 2 : 1);
      return &from_range_;
    }
  }
  return nullptr;
}

void scopes::enter_function(std::vector<ast::item> const& body) {
  labels_.assign(1, {});
  places_.clear();
  std::vector<std::size_t> nest{0};
  for (ast::item const& item : body) {
    if (item.kind == ast::item_kind::open) {
      nest.push_back(labels_.size());
      labels_.emplace_back();
    } else if (item.kind == ast::item_kind::close) {
      nest.pop_back();
    } else if (item.kind == ast::item_kind::label) {
      if (!labels_[nest.back()].emplace(item.name, static_cast<std::uint32_t>(places_.size())).second) {
        throw error("PTX line " + std::to_string(item.line) + ": label twice: " + std::string(item.name));
      }
      places_.push_back(0);
    }
  }
  opened_ = 1;
  stack_.resize(1);
  stack_.emplace_back();
}

void scopes::open() {
  stack_.emplace_back();
  stack_.back().number = opened_++;
}

void scopes::place_label(std::string_view name, std::uint32_t at) {
  places_[labels_[stack_.back().number].at(name)] = at;
}

std::optional<std::uint32_t> scopes::label_number(std::string_view name) const {
  for (auto s = stack_.rbegin(); s + 1 != stack_.rend(); ++s) {
    auto const& labels = labels_[s->number];
    if (auto const at = labels.find(name); at != labels.end()) { return at->second; }
  }
  return std::nullopt;
}

}  // namespace ptx
