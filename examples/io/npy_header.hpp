// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The header of a .npy file, a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "file.hpp"

namespace io {

namespace detail {

/// Reads the dictionary in a .npy header, and nothing else that Python could spell.
class npy_header {
 public:
  npy_header(std::string_view text, input_file const& file) : text_(text), file_(file) {
    expect('{');
    while (!accept('}')) {
      read_entry();
      if (accept('}')) { break; }
      expect(',');
    }
    skip_blanks();
    if (at_ != text_.size()) { fail("the end of the header"); }
    require(has_descr_, "descr");
    require(has_order_, "fortran_order");
    require(has_shape_, "shape");
  }

  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;

 private:
  void read_entry() {
    std::string const key = read_string();
    expect(':');
    if (key == "descr") {
      first(has_descr_, key);
      if (next() == '[') { file_.fail("the array has a structured dtype, and only plain numbers are read"); }
      descr = read_string();
    } else if (key == "fortran_order") {
      first(has_order_, key);
      fortran_order = read_bool();
    } else if (key == "shape") {
      first(has_shape_, key);
      read_shape();
    } else {
      file_.fail("the .npy header has the unknown key " + in_quotes(key));
    }
  }

  void read_shape() {
    expect('(');
    while (!accept(')')) {
      shape.push_back(read_extent());
      if (accept(')')) { break; }
      expect(',');
    }
  }

  std::int64_t read_extent() {
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    if (next() < '0' || next() > '9') { fail("a dimension (a whole number, not negative)"); }
    std::int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      std::int64_t const digit = text_[at_] - '0';
      if (value > (largest - digit) / 10) { file_.fail("the array claims a dimension of more than 2^63 - 1"); }
      value = value * 10 + digit;
    }
    if (at_ < text_.size() && text_[at_] == 'L') { ++at_; }  // a long of Python 2
    return value;
  }

  bool read_bool() {
    skip_blanks();
    for (std::string_view const word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail("True or False");
  }

  std::string read_string() {
    char const quote = next();
    if (quote != '\'' && quote != '"') { fail("a string"); }
    std::size_t const begin = at_ + 1;
    std::size_t const end = text_.find(quote, begin);
    if (end == std::string_view::npos) { fail("a string that ends"); }
    at_ = end + 1;
    return std::string(text_.substr(begin, end - begin));
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) { ++at_; }
  }
  /// The next character that is not blank, or 0 at the end.
  char next() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (next() != c) { return false; }
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) { fail(std::string("'") + c + "'"); }
  }
  void first(bool& seen, std::string const& key) const {
    if (seen) { file_.fail("the .npy header has the key " + in_quotes(key) + " twice"); }
    seen = true;
  }
  void require(bool seen, char const* key) const {
    if (!seen) { file_.fail("the .npy header lacks the key " + in_quotes(key)); }
  }
  [[noreturn]] void fail(std::string const& wanted) const {
    file_.fail("the .npy header has " + in_quotes(text_.substr(at_)) + " at its byte " + std::to_string(at_) +
               ", where NumPy writes " + wanted);
  }

  std::string_view text_;
  input_file const& file_;
  std::size_t at_ = 0;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

}  // namespace detail

}  // namespace io
