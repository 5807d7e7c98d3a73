// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// PTX in the fat binaries that nvcc links into a program.
///
/// The layout relied on (nvcc 12.8 to 13.0; the numbers are little-endian, offsets in bytes):
///
///     wrapper      0 u32 magic 0x466243B1   4 u32 version (1)   8 u64 address of the container
///     container    0 u32 magic 0xBA55ED50   4 u16 version (1)   6 u16 bytes of this header   8 u64 bytes that follow
///     image, many  0 u16 kind (1: PTX, 2: machine code)         4 u32 bytes of this header   8 u64 bytes of payload
///                 16 u32 compressed bytes (0: plain text)      28 u32 architecture, e.g. 100
///
/// A PTX payload is text, padded with zeros. Its target, suffix included, is read from its own `.target` line.

#include <string>
#include <string_view>
#include <vector>

#include "machine.hpp"

namespace ptx::runtime {

struct image {
  target built_for;
  std::string_view text;  ///< in the program's memory
};

struct fat_binary {
  std::vector<image> images;  ///< PTX that can be read
  int machine_code = 0;       ///< images that are not PTX
  int compressed = 0;         ///< PTX that was compressed
};

/// \throws error when the layout is not the one above
fat_binary read_fat_binary(void const* wrapper);

/// True when a device can run PTX of this target: older ones run everywhere, `a` images on their own chip, `f` images
/// on the chips of their family. A device without suffix (sm_100) is one that has no such features.
bool runs_on(target image, target device);

/// Newer targets rank higher, at equal numbers the more special.
int rank(target t);

/// The image that a driver would choose: the highest rank that runs. nullptr: none.
image const* choose(std::vector<image> const& images, target device);

/// "compute_80, compute_100a", for messages.
std::string list(std::vector<image> const& images);

}  // namespace ptx::runtime
