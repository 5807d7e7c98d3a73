// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens a file of tensors by the end of its name.

#include <filesystem>

#include "npy.hpp"
#include "safetensors.hpp"

namespace io {

/// Opens a .npy or a .safetensors file.
/// \throws file_error as open_npy and open_safetensors do, and for any other name.
[[nodiscard]] inline tensor_file open_tensors(std::filesystem::path const& path) {
  if (path.extension() == ".npy") { return open_npy(path); }
  if (path.extension() == ".safetensors") { return open_safetensors(path); }
  throw file_error(path, "has a name that ends neither in .npy nor in .safetensors");
}

}  // namespace io
