// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The command line of quantize_file.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "checkpoint.hpp"
#include "io/file.hpp"

namespace command_line {

inline constexpr char help[] = R"(usage: quantize_file INPUT [option...]

Quantizes each F32, F16 or BF16 tensor of INPUT (.npy or .safetensors) and prints what that costs, a row a tensor
and a total. A tensor is taken as a matrix: its last dimension is the columns, all others together are the rows.

  --format FORMAT      one of those below; nvfp4 if it is not given
  --scaling SCALING    one of the format's; its first if it is not given
  --rht                transform rows by Hadamard matrices of 16 with the signs of Transformer Engine
  --stochastic SEED    round stochastically (4-bit formats)
  --no-speed           leave out the columns that differ from run to run
  --output FILE        write the result to a .safetensors file, once all of it is there
  --layout LAYOUT      of the block scales in FILE: linear (default), 128x4 or 8x4
  --help               print this

In FILE, tensor T becomes what ModelOpt's checkpoints hold:
  T          codes: U8 [rows, bytes], two 4-bit codes a byte, the even column in the low nibble; F8_E4M3 in FP8
  T_scale    block scales: F8_E4M3 [rows, blocks] in NVFP4; U8 in MX formats and tiled layouts; F32 [] in FP8
  T_scale_2  NVFP4's tensor scale: F32 [], the decode factor amax / 2688 (1536 in four_over_six), not its reciprocal
  value = T * (T_scale * T_scale_2), as far as these exist; in NVFP4 up to the last bits of fp32, exactly in modelopt
Tensors that are skipped are copied. The metadata says what was chosen, and what shapes the tensors had.

Formats and their scalings:
)";

/// What was asked for.
struct options {
  std::filesystem::path input;
  std::filesystem::path output;  ///< Empty: nothing is written.
  std::string format = "nvfp4";
  std::string scaling;  ///< Empty: the format's default.
  checkpoint::layout_name layout = checkpoint::layouts[0];
  std::optional<std::uint64_t> seed;  ///< Of stochastic rounding.
  bool with_rht = false;
  bool with_speed = true;
  bool wants_help = false;
};

[[nodiscard]] inline std::uint64_t parse_seed(std::string const& text) {
  std::uint64_t seed = 0;
  char const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stop != end) {
    throw std::invalid_argument("--stochastic needs a whole number from 0 to 2^64 - 1, not " + io::in_quotes(text));
  }
  return seed;
}

[[nodiscard]] inline checkpoint::layout_name parse_layout(std::string const& text) {
  for (checkpoint::layout_name const& layout : checkpoint::layouts) {
    if (layout.text == text) { return layout; }
  }
  throw std::invalid_argument("--layout is linear, 128x4 or 8x4, not " + io::in_quotes(text));
}

/// \throws std::invalid_argument when the words are not a command line of the help; formats and scalings are
/// not looked at.
[[nodiscard]] inline options parse(std::vector<std::string> const& words) {
  options chosen;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string const& word = words[i];
    auto const value = [&]() -> std::string const& {
      if (i + 1 == words.size()) { throw std::invalid_argument(word + " needs a value; --help says which"); }
      return words[++i];
    };
    if (word == "--help") {
      chosen.wants_help = true;
    } else if (word == "--output") {
      chosen.output = value();
    } else if (word == "--format") {
      chosen.format = value();
    } else if (word == "--scaling") {
      chosen.scaling = value();
    } else if (word == "--layout") {
      chosen.layout = parse_layout(value());
    } else if (word == "--stochastic") {
      chosen.seed = parse_seed(value());
    } else if (word == "--rht") {
      chosen.with_rht = true;
    } else if (word == "--no-speed") {
      chosen.with_speed = false;
    } else if (word.substr(0, 1) == "-") {
      throw std::invalid_argument("unknown option " + io::in_quotes(word) + "; --help lists those that there are");
    } else if (chosen.input.empty()) {
      chosen.input = word;
    } else {
      throw std::invalid_argument("takes one file, not " + io::in_quotes(word) + " as well");
    }
  }
  if (chosen.input.empty() && !chosen.wants_help) { throw std::invalid_argument("no file was named; --help says how"); }
  return chosen;
}

/// \throws io::file_error when the output, if there is one, has no place to be written to.
inline void check_output(options const& chosen) {
  if (chosen.output.empty()) { return; }
  std::error_code ignored;
  if (chosen.output.extension() != ".safetensors") {
    throw io::file_error(chosen.output, "has a name that does not end in .safetensors, which is what is written");
  }
  if (std::filesystem::equivalent(chosen.input, chosen.output, ignored)) {
    throw io::file_error(chosen.output, "is the input, which is not written over");
  }
  std::filesystem::path const folder = std::filesystem::absolute(chosen.output).parent_path();
  if (!std::filesystem::is_directory(folder, ignored)) { throw io::file_error(folder, "is no folder to write to"); }
}

}  // namespace command_line
