// SPDX-License-Identifier: Apache-2.0
// Quantizes every tensor of a .npy or .safetensors file, says what it costs, and writes the result where it
// is asked to.

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fp4/fp4.hpp>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "checkpoint.hpp"
#include "io/open.hpp"
#include "io/progress.hpp"
#include "matrix.hpp"
#include "quantize_options.hpp"
#include "report.hpp"

namespace {

/// What is passed from one tensor to the next.
struct job {
  command_line::options chosen;
  report::scratch memory;
  std::vector<io::named_tensor> saved;
  std::uint64_t tensors = 0;  ///< So far; each draws random numbers of its own.
};

using work = report::outcome(job&, std::string const& name, fp4::matrix_view<float const>);
using names_in_file = std::vector<std::string>(std::string const& name);

/// The one place where choices made at run time become the library's, which are types. (The transform is a
/// pass of its own here, which gives the bytes of quantize(..., hadamard) and halves what there is to
/// compile.)
template <class Format, class Scaling>
report::outcome quantize(job& all, std::string const& name, fp4::matrix_view<float const> in) {
  fp4::quantized<Format> q(in.rows, in.cols, Scaling::decoding);
  auto const round = [&](fp4::matrix_view<float const> values) {
    if constexpr (std::is_same_v<typename Format::element, fp4::e2m1>) {
      if (all.chosen.seed) {
        return fp4::quantize(values, q.view(), Scaling(), fp4::stochastic(*all.chosen.seed, all.tensors));
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
      throw io::file_error(all.chosen.input, "tensor " + io::in_quotes(name) +
                                                 " has an infinite magnitude, so no scale fits it; nothing was saved");
    }
    checkpoint::append(all.saved, name, q, all.chosen.layout.layout);
  }
  return result;
}

/// A format and a scaling by name.
struct kind {
  char const* format;
  char const* scaling;
  work* run;
  names_in_file* names;
  bool is_4_bit;
};

/// The first of a format is its default.
constexpr kind kinds[] = {
    {"nvfp4", "transformer_engine", quantize<fp4::nvfp4, fp4::transformer_engine>, checkpoint::names<fp4::nvfp4>, true},
    {"nvfp4", "four_over_six", quantize<fp4::nvfp4, fp4::four_over_six>, checkpoint::names<fp4::nvfp4>, true},
    {"nvfp4", "search", quantize<fp4::nvfp4, fp4::search>, checkpoint::names<fp4::nvfp4>, true},
    {"nvfp4", "modelopt", quantize<fp4::nvfp4, fp4::modelopt>, checkpoint::names<fp4::nvfp4>, true},
    {"mxfp4", "mx_floor", quantize<fp4::mxfp4, fp4::mx_floor>, checkpoint::names<fp4::mxfp4>, true},
    {"mxfp4", "mx_ceil", quantize<fp4::mxfp4, fp4::mx_ceil>, checkpoint::names<fp4::mxfp4>, true},
    {"mxfp6_e2m3", "mx_floor", quantize<fp4::mxfp6_e2m3, fp4::mx_floor>, checkpoint::names<fp4::mxfp6_e2m3>, false},
    {"mxfp8_e4m3", "mx_ceil", quantize<fp4::mxfp8_e4m3, fp4::mx_ceil>, checkpoint::names<fp4::mxfp8_e4m3>, false},
    {"fp8_e4m3", "tensor_amax", quantize<fp4::fp8_e4m3, fp4::tensor_amax>, checkpoint::names<fp4::fp8_e4m3>, false},
};

void print_help() {
  std::fputs(command_line::help, stdout);
  for (kind const& k : kinds) { std::printf("  %-12s %s\n", k.format, k.scaling); }
}

/// \throws std::invalid_argument for what is not in the help.
kind const& find_kind(command_line::options const& chosen) {
  for (kind const& k : kinds) {
    if (k.format != chosen.format || !(chosen.scaling.empty() || k.scaling == chosen.scaling)) { continue; }
    if (chosen.seed && !k.is_4_bit) {
      throw std::invalid_argument("stochastic rounding is for 4-bit formats, and " + chosen.format + " is none");
    }
    return k;
  }
  throw std::invalid_argument("there is no format " + io::in_quotes(chosen.format) +
                              (chosen.scaling.empty() ? "" : " with the scaling " + io::in_quotes(chosen.scaling)) +
                              " here; --help lists them");
}

/// Why a tensor is not quantized, or nothing.
std::string reason_to_skip(io::tensor_info const& tensor, command_line::options const& chosen) {
  if (tensor.element == io::dtype::other) { return tensor.dtype_text + " is not quantized"; }
  if (tensor.count == 0) { return "it has no values"; }
  if (chosen.with_rht && columns_of(tensor) % 16 != 0) { return "--rht needs a multiple of 16 columns"; }
  return "";
}

/// \throws io::file_error when two tensors would be written under one name.
void check_names(kind const& how, io::tensor_file const& file, command_line::options const& chosen) {
  std::map<std::string, std::string> origins;  // of the names in the output
  for (io::tensor_info const& tensor : file.tensors) {
    bool const is_copied = !reason_to_skip(tensor, chosen).empty();
    for (std::string const& name : is_copied ? std::vector<std::string>{tensor.name} : how.names(tensor.name)) {
      auto const [other, is_new] = origins.emplace(name, tensor.name);
      if (is_new) { continue; }
      throw io::file_error(chosen.input, "tensors " + io::in_quotes(other->second) + " and " +
                                             io::in_quotes(tensor.name) + " would both be written as " +
                                             io::in_quotes(name));
    }
  }
}

void save(job const& all, kind const& how, io::tensor_file const& file, nlohmann::json const& shapes) {
  command_line::options const& chosen = all.chosen;
  auto metadata = file.metadata;
  metadata["fp4.format"] = how.format;
  metadata["fp4.scaling"] = how.scaling;
  metadata["fp4.rounding"] = chosen.seed ? "stochastic, seed " + std::to_string(*chosen.seed) : "nearest even";
  metadata["fp4.transform"] = chosen.with_rht ? "hadamard 16, signs 0xd7e8" : "none";
  metadata["fp4.scale_layout"] = chosen.layout.text;
  metadata["fp4.convention"] =
      "modelopt: value = T * (T_scale * T_scale_2), as far as these exist; even columns in low nibbles";
  metadata["fp4.shapes"] = shapes.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  io::write_safetensors(chosen.output, all.saved, metadata);
  std::printf("\nwritten to %s\n", chosen.output.string().c_str());
}

/// The table: a row a tensor.
class tensor_table {
 public:
  tensor_table(io::tensor_file const& file, bool with_speed)
      : with_speed_(with_speed), table_(columns(file, with_speed)) {
    if (with_speed) {
      std::printf("processor path: %s, %s; GB/s count values as float32, in one run each\n\n",
                  fp4::cpu::name(fp4::cpu::best()), report::threads_text().c_str());
    }
    table_.print_header();
  }

  void skipped(io::tensor_info const& tensor, std::string const& reason) const {
    table_.print_note(io::printable(tensor.name), "skipped: " + reason);
  }
  void row(io::tensor_info const& tensor, report::outcome const& result) const {
    print({io::printable(tensor.name), io::shape_text(tensor.shape), tensor.dtype_text}, result);
  }
  void total(report::outcome const& sum) const {
    table_.print_rule();
    print({"total", "", ""}, sum);
  }

 private:
  static std::vector<io::column> columns(io::tensor_file const& file, bool with_speed) {
    io::column name{"", "tensor", 5}, shape{"", "shape", 0};
    for (io::tensor_info const& tensor : file.tensors) {
      name.width = std::max(name.width, io::printable(tensor.name).size());
      shape.width = std::max(shape.width, io::shape_text(tensor.shape).size());
    }
    std::vector<io::column> all = {name, shape, {"", "dtype"}};
    for (io::column const& c : report::accuracy_columns()) { all.push_back(c); }
    if (with_speed) {
      all.push_back({"quantize", "GB/s"});
      all.push_back({"dequantize", "GB/s"});
    }
    return all;
  }

  void print(std::vector<std::string> cells, report::outcome const& result) const {
    for (std::string const& cell : report::accuracy(result)) { cells.push_back(cell); }
    if (with_speed_) {
      cells.push_back(report::gigabytes_per_second(result.bytes(), result.quantize_seconds));
      cells.push_back(report::gigabytes_per_second(result.bytes(), result.dequantize_seconds));
    }
    table_.print_row(cells);
  }

  bool with_speed_;
  io::table table_;
};

void run(command_line::options const& chosen) {
  kind const& how = find_kind(chosen);
  command_line::check_output(chosen);
  io::tensor_file file = io::open_tensors(chosen.input);
  if (!chosen.output.empty()) { check_names(how, file, chosen); }
  std::uint64_t bytes = 0;
  for (io::tensor_info const& tensor : file.tensors) { bytes += tensor.bytes; }

  job all{chosen, {}, {}};
  report::outcome total;
  nlohmann::json shapes = nlohmann::json::object();
  tensor_table const table(file, chosen.with_speed);
  io::progress bar("quantizing", bytes);
  for (io::tensor_info const& tensor : file.tensors) {
    if (std::string const reason = reason_to_skip(tensor, chosen); !reason.empty()) {
      if (!chosen.output.empty()) {
        all.saved.push_back({tensor.name, tensor.dtype_text, tensor.shape, file.read<std::byte>(tensor)});
      }
      bar.erase();
      table.skipped(tensor, reason);
    } else {
      report::outcome const result = how.run(all, tensor.name, read_matrix(file, tensor).view());
      total += result;
      shapes[tensor.name] = tensor.shape;
      bar.erase();
      table.row(tensor, result);
    }
    ++all.tensors;
    bar.advance(tensor.bytes);
  }
  bar.erase();
  if (total.found.values != 0) { table.total(total); }
  if (!chosen.output.empty()) { save(all, how, file, shapes); }
}

}  // namespace

int main(int argc, char** argv) {
#ifdef SIGXFSZ
  std::signal(SIGXFSZ, SIG_IGN);  // beyond a limit of file size, writing fails as on a full disk
#endif
  try {
    command_line::options const chosen = command_line::parse({argv + std::min(argc, 1), argv + argc});
    if (chosen.wants_help) {
      print_help();
    } else {
      run(chosen);
    }
  } catch (std::bad_alloc const&) {
    std::fputs("quantize_file: there is not enough memory\n", stderr);
    return 1;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "quantize_file: %s\n", error.what());
    return 1;
  }
}
