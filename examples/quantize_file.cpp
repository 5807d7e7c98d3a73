// SPDX-License-Identifier: Apache-2.0
// Quantizes every tensor of a .npy or .safetensors file, says what it costs, and writes the result where it
// is asked to.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fp4/fp4.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "checkpoint.hpp"
#include "io/open.hpp"
#include "io/progress.hpp"
#include "report.hpp"

namespace {

struct kind;

struct options {
  std::filesystem::path input;
  std::filesystem::path output;  ///< Empty: nothing is written.
  kind const* how = nullptr;
  bool with_rht = false;
  bool with_speed = true;
  std::optional<std::uint64_t> seed;  ///< Of stochastic rounding.
  checkpoint::scale_layout layout = checkpoint::scale_layout::linear;
};

/// What is passed from one tensor to the next.
struct job {
  options chosen;
  report::scratch memory;
  std::vector<io::named_tensor> saved;
};

using work = report::outcome(job&, std::string const& name, fp4::matrix_view<float const>);

/// The one place where choices made at run time become the library's, which are types. (The transform is a
/// pass of its own here, which gives the bytes of quantize(..., hadamard) and halves what there is to
/// compile.)
template <class Format, class Scaling>
report::outcome quantize(job& all, std::string const& name, fp4::matrix_view<float const> in) {
  fp4::quantized<Format> q(in.rows, in.cols, Scaling::decoding);
  auto const round = [&](fp4::matrix_view<float const> values) {
    if constexpr (std::is_same_v<typename Format::element, fp4::e2m1>) {
      if (all.chosen.seed) {
        return fp4::quantize(values, q.view(), Scaling(), fp4::stochastic(*all.chosen.seed));
      }
    }
    return fp4::quantize(values, q.view(), Scaling());
  };
  report::outcome result;
  if (all.chosen.with_rht) {
    fp4::hadamard<16> const rht;
    all.memory.transformed.resize(static_cast<std::size_t>(in.size()));
    fp4::matrix_view<float> const transformed(all.memory.transformed.data(), in.rows, in.cols);
    result = report::measure(in, rht, q, all.memory, 0, [&] {
      fp4::cpu::transform(in, rht, transformed);
      return round(transformed);
    });
  } else {
    result = report::measure(in, fp4::no_transform(), q, all.memory, 0, [&] { return round(in); });
  }
  if (!all.chosen.output.empty()) {
    if (result.found.infinite_values != 0 || std::isinf(q.tensor_scale().stored())) {
      throw io::file_error(all.chosen.input,
                           "tensor " + io::in_quotes(name) +
                               " has an infinite magnitude, so no scale fits it; nothing was saved");
    }
    checkpoint::append(all.saved, name, q, all.chosen.layout);
  }
  return result;
}

/// A format and a scaling by name.
struct kind {
  std::string_view format;
  std::string_view scaling;
  work* run;
  bool is_4_bit;
};

/// The first of a format is its default.
constexpr kind kinds[] = {
    {"nvfp4", "transformer_engine", quantize<fp4::nvfp4, fp4::transformer_engine>, true},
    {"nvfp4", "four_over_six", quantize<fp4::nvfp4, fp4::four_over_six>, true},
    {"nvfp4", "search", quantize<fp4::nvfp4, fp4::search>, true},
    {"nvfp4", "modelopt", quantize<fp4::nvfp4, fp4::modelopt>, true},
    {"nvfp4", "compressed_tensors", quantize<fp4::nvfp4, fp4::compressed_tensors>, true},
    {"mxfp4", "mx_floor", quantize<fp4::mxfp4, fp4::mx_floor>, true},
    {"mxfp4", "mx_ceil", quantize<fp4::mxfp4, fp4::mx_ceil>, true},
    {"mxfp6_e2m3", "mx_floor", quantize<fp4::mxfp6_e2m3, fp4::mx_floor>, false},
    {"mxfp8_e4m3", "mx_ceil", quantize<fp4::mxfp8_e4m3, fp4::mx_ceil>, false},
    {"mxfp8_e4m3", "mx_floor", quantize<fp4::mxfp8_e4m3, fp4::mx_floor>, false},
    {"fp8_e4m3", "tensor_amax", quantize<fp4::fp8_e4m3, fp4::tensor_amax>, false},
};

void print_help() {
  std::puts(R"(usage: quantize_file INPUT [option...]

Quantizes each F32, F16 or BF16 tensor of INPUT (.npy or .safetensors) and prints what that costs, a row a tensor and a
total. A tensor is taken as a matrix: its last dimension is the columns, all others together are the rows.

  --format FORMAT      and
  --scaling SCALING    one of these pairs; the first of a format is its default, and nvfp4 that of formats:)");
  for (kind const& k : kinds) {
    std::printf("                         %-12.*s %.*s\n", static_cast<int>(k.format.size()), k.format.data(),
                static_cast<int>(k.scaling.size()), k.scaling.data());
  }
  std::puts(
      R"(  --rht                transform rows by a Hadamard matrix of 16 with the signs of Transformer Engine
  --stochastic SEED    round stochastically (4-bit formats)
  --no-speed           leave out the columns that differ from run to run
  --output FILE        write the result, a .safetensors file, once all of it is there
  --layout LAYOUT      of the block scales in it: linear (default), 128x4, 8x4
  --help               print this

In FILE tensor T becomes, as ModelOpt's checkpoints have it,
  T          codes: U8 [rows, bytes], two 4-bit codes a byte, the even column in the low nibble; F8_E4M3 for FP8
  T_scale    block scales: F8_E4M3 [rows, blocks] for NVFP4; U8 for MX formats and for tiled layouts; F32 [] for FP8
  T_scale_2  F32 [], NVFP4: the decode factor (amax / 2688, and not its reciprocal)
  value = T * (T_scale * T_scale_2), up to the last bits of fp32
Tensors that are skipped are copied. The metadata says what was chosen, and gives the shapes.)");
}

std::uint64_t whole_number(std::string const& text) {
  std::size_t used = 0;
  std::uint64_t number = 0;
  bool const begins_well = !text.empty() && text[0] >= '0' && text[0] <= '9';
  try {
    number = std::stoull(begins_well ? text : "", &used);
  } catch (std::exception const&) {}
  if (used == 0 || used != text.size()) {
    throw std::invalid_argument("--stochastic needs a whole number from 0 to 2^64 - 1, not " +
                                io::in_quotes(text));
  }
  return number;
}

kind const* find_kind(std::string const& format, std::string const& scaling) {
  for (kind const& k : kinds) {
    if (k.format == format && (scaling.empty() || k.scaling == scaling)) { return &k; }
  }
  throw std::invalid_argument("there is no format " + io::in_quotes(format) +
                              (scaling.empty() ? "" : " with scaling " + io::in_quotes(scaling)) +
                              " here; --help lists what there is");
}

checkpoint::scale_layout find_layout(std::string const& name) {
  if (name == "linear") { return checkpoint::scale_layout::linear; }
  if (name == "128x4") { return checkpoint::scale_layout::tiled_128x4; }
  if (name == "8x4") { return checkpoint::scale_layout::tiled_8x4; }
  throw std::invalid_argument("--layout is linear, 128x4 or 8x4, not " + io::in_quotes(name));
}

void check_output(options const& chosen) {
  if (chosen.output.empty()) { return; }
  std::error_code no_such_file;
  if (chosen.output.extension() != ".safetensors") {
    throw io::file_error(chosen.output,
                         "has a name that does not end in .safetensors, which is what is written");
  }
  if (std::filesystem::equivalent(chosen.input, chosen.output, no_such_file)) {
    throw io::file_error(chosen.output, "is the input, which is not written over");
  }
  std::filesystem::path const folder = std::filesystem::absolute(chosen.output).parent_path();
  if (!std::filesystem::is_directory(folder)) { throw io::file_error(folder, "is no folder to write to"); }
}

/// \throws std::invalid_argument for options that are not in the help.
options parsed(std::vector<std::string> const& arguments) {
  options chosen;
  std::string format = "nvfp4", scaling;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string const& option = arguments[i];
    auto const value = [&]() -> std::string const& {
      if (i + 1 == arguments.size()) { throw std::invalid_argument(option + " needs a value"); }
      return arguments[++i];
    };
    if (option == "--output") {
      chosen.output = value();
    } else if (option == "--format") {
      format = value();
    } else if (option == "--scaling") {
      scaling = value();
    } else if (option == "--layout") {
      chosen.layout = find_layout(value());
    } else if (option == "--stochastic") {
      chosen.seed = whole_number(value());
    } else if (option == "--rht") {
      chosen.with_rht = true;
    } else if (option == "--no-speed") {
      chosen.with_speed = false;
    } else if (option.substr(0, 1) == "-") {
      throw std::invalid_argument("unknown option " + io::in_quotes(option) +
                                  "; --help lists those that there are");
    } else if (!chosen.input.empty()) {
      throw std::invalid_argument("one file at a time, not " + io::in_quotes(option) + " as well");
    } else {
      chosen.input = option;
    }
  }
  if (chosen.input.empty()) { throw std::invalid_argument("no file was named; --help says how"); }
  chosen.how = find_kind(format, scaling);
  if (chosen.seed && !chosen.how->is_4_bit) {
    throw std::invalid_argument("stochastic rounding is for 4-bit formats, and " + format + " is none");
  }
  return chosen;
}

template <class Half>
std::vector<float> widened(std::vector<Half> const& narrow) {
  std::vector<float> wide(narrow.size());
  std::transform(narrow.begin(), narrow.end(), wide.begin(), [](Half x) { return x.to_float(); });
  return wide;
}

std::vector<float> read(io::tensor_file& file, io::tensor_info const& tensor) {
  if (tensor.element == io::dtype::f16) { return widened(file.read<fp4::float16>(tensor)); }
  if (tensor.element == io::dtype::bf16) { return widened(file.read<fp4::bfloat16>(tensor)); }
  return file.read<float>(tensor);
}

/// Why a tensor is not quantized, or nothing.
std::string reason_to_skip(io::tensor_info const& tensor, options const& chosen) {
  std::int64_t const cols = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (tensor.element == io::dtype::other) { return "skipped: " + tensor.dtype_text + " is not quantized"; }
  if (tensor.count == 0) { return "skipped: has no values"; }
  if (chosen.with_rht && cols % 16 != 0) { return "skipped: --rht needs a multiple of 16 columns"; }
  return "";
}

void save(job& all, io::tensor_file const& file, nlohmann::json const& shapes) {
  options const& chosen = all.chosen;
  auto metadata = file.metadata;
  metadata["fp4.format"] = chosen.how->format;
  metadata["fp4.scaling"] = chosen.how->scaling;
  metadata["fp4.rounding"] =
      chosen.seed ? "stochastic, seed " + std::to_string(*chosen.seed) : "nearest even";
  metadata["fp4.transform"] = chosen.with_rht ? "hadamard 16, signs 0xd7e8" : "none";
  metadata["fp4.scale_layout"] = chosen.layout == checkpoint::scale_layout::linear        ? "linear"
                                 : chosen.layout == checkpoint::scale_layout::tiled_128x4 ? "128x4"
                                                                                          : "8x4";
  metadata["fp4.convention"] = "modelopt: value = T * (T_scale * T_scale_2); even columns in low nibbles";
  metadata["fp4.shapes"] = shapes.dump();
  io::write_safetensors(chosen.output, all.saved, metadata);
}

void run(options const& chosen) {
  check_output(chosen);
  io::tensor_file file = io::open_tensors(chosen.input);
  io::column name_column{"", "tensor", 5};
  std::size_t shape_width = 0;
  std::uint64_t bytes = 0;
  for (io::tensor_info const& tensor : file.tensors) {
    name_column.width = std::max(name_column.width, io::printable(tensor.name).size());
    shape_width = std::max(shape_width, io::shape_text(tensor.shape).size());
    bytes += tensor.bytes;
  }
  auto columns = report::joined<io::column>({name_column, {"", "shape", shape_width}, {"", "dtype"}},
                                            report::accuracy_columns());
  if (chosen.with_speed) {
    columns = report::joined<io::column>(columns, {{"quantize", "GB/s"}, {"dequantize", "GB/s"}});
    std::printf("processor path: %s, %s; speeds: bytes as float32, one run each\n\n",
                fp4::cpu::name(fp4::cpu::best()), report::threads_text().c_str());
  }
  io::table const table(columns);
  auto const print = [&](std::vector<std::string> const& first, report::outcome const& result) {
    auto cells = report::joined<std::string>(first, report::accuracy(result));
    if (chosen.with_speed) {
      cells.push_back(report::gigabytes_per_second(result.bytes(), result.quantize_seconds));
      cells.push_back(report::gigabytes_per_second(result.bytes(), result.dequantize_seconds));
    }
    table.print_row(cells);
  };

  job all{chosen, {}, {}};
  report::outcome total;
  nlohmann::json shapes = nlohmann::json::object();
  io::progress bar("quantizing", bytes);
  table.print_header();
  for (io::tensor_info const& tensor : file.tensors) {
    std::string const skip = reason_to_skip(tensor, chosen);
    std::string const shown = io::printable(tensor.name), shape = io::shape_text(tensor.shape);
    if (skip.empty()) {
      auto const values = read(file, tensor);
      std::int64_t const cols = tensor.shape.empty() ? 1 : tensor.shape.back();
      auto const result = chosen.how->run(all, tensor.name, {values.data(), tensor.count / cols, cols});
      total += result;
      shapes[tensor.name] = tensor.shape;
      bar.erase();
      print({shown, shape, tensor.dtype_text}, result);
    } else {
      if (!chosen.output.empty()) {
        all.saved.push_back({tensor.name, tensor.dtype_text, tensor.shape, file.read<std::byte>(tensor)});
      }
      bar.erase();
      table.print_note(shown, skip);
    }
    bar.advance(tensor.bytes);
  }
  bar.erase();
  table.print_rule();
  if (total.found.values != 0) { print({"total", "", ""}, total); }
  if (!chosen.output.empty()) {
    save(all, file, shapes);
    std::printf("\nwritten to %s\n", chosen.output.string().c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> const arguments(argv + std::min(argc, 1), argv + argc);
  try {
    if (std::find(arguments.begin(), arguments.end(), "--help") != arguments.end()) {
      print_help();
    } else {
      run(parsed(arguments));
    }
  } catch (std::exception const& error) {
    std::fprintf(stderr, "quantize_file: %s\n", error.what());
    return 1;
  }
}
