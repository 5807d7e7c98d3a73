// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The published layouts in tests/layout/data: rows of integers under a line of names.

#include <array>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace test {

/// The rows of a table; throws where it is missing, has other columns, or a line that is not Columns integers.
template <std::size_t Columns>
std::vector<std::array<int, Columns>> read_table(std::string const& name, std::string const& columns) {
  std::ifstream file(std::string(FP4_TEST_DIR) + "/layout/data/" + name);
  std::string line;
  if (!std::getline(file, line) || line != columns) { throw std::runtime_error(name + " is not the table expected"); }
  std::vector<std::array<int, Columns>> rows;
  while (std::getline(file, line)) {
    std::array<int, Columns> row{};
    std::istringstream cells(line);
    std::string cell;
    std::size_t count = 0;
    while (std::getline(cells, cell, ',')) { row.at(count++) = std::stoi(cell); }
    if (count != Columns) { throw std::runtime_error(name + " has the line " + line); }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace test
