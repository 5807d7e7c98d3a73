// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads the library's headers as text and lists where they break the plan of its rooms.

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace layering {

namespace fs = std::filesystem;

/// One broken rule: where, and what was found.
struct violation {
  std::string file;
  int line;
  std::string what;
};

using rooms = std::set<std::string>;

/// The rooms whose headers the headers of `room` may include, besides its own.
inline rooms const& may_see(std::string const& room) {
  static rooms const facts{"config", "error"};
  static auto const with = [](rooms base, rooms const& more) {
    base.insert(more.begin(), more.end());
    return base;
  };
  static rooms const numbers = with(facts, {"format", "random"});
  static rooms const choices = with(numbers, {"rounding", "scaling", "transform", "layout"});
  static rooms const operations = with(choices, {"choices"});
  static rooms const recipe = with(operations, {"reference", "cpu", "gpu", "quantized"});
  static rooms const front = with(recipe, {"recipe", "metrics"});
  static std::map<std::string, rooms> const plan{
      {"config", {}},
      {"error", {"config"}},
      {"format", facts},
      {"random", facts},
      {"rounding", numbers},
      {"scaling", with(numbers, {"rounding"})},  // ggml and exact need the roundings by name
      {"transform", numbers},
      {"layout", numbers},
      {"choices", choices},
      {"metrics", with(facts, {"format", "layout"})},
      {"reference", operations},
      {"cpu", operations},
      {"gpu", operations},
      {"quantized", operations},
      {"recipe", recipe},
      {"front", front},
  };
  static rooms const nothing{};
  auto const found = plan.find(room);
  return found == plan.end() ? nothing : found->second;
}

/// The room of a header, from its path below include/fp4; empty when the plan has no such room.
inline std::string room_of(fs::path const& header) {
  static rooms const folders{"format",  "rounding",  "random", "scaling", "transform", "layout",
                             "metrics", "reference", "cpu",    "gpu",     "recipe"};
  static std::map<std::string, std::string> const files{
      {"config.hpp", "config"}, {"error.hpp", "error"},    {"choices.hpp", "choices"},    {"fp4.hpp", "front"},
      {"fp4.cuh", "front"},     {"quantize.hpp", "front"}, {"quantized.hpp", "quantized"}};
  std::string const first = header.begin()->string();
  if (std::next(header.begin()) != header.end()) { return folders.count(first) != 0 ? first : ""; }
  auto const found = files.find(first);
  return found == files.end() ? "" : found->second;
}

/// `text` with comments and literals blanked out, lines kept. The names in #include "..." stay.
inline std::string without_comments_and_literals(std::string text) {
  bool in_include = false;  // between # include and the end of its line
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    char const c = text[i];
    if (text.compare(i, 2, "//") == 0) {
      end = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
    } else if (c == '"' || (c == '\'' && (i == 0 || std::isalnum(text[i - 1]) == 0))) {  // not 1'000
      while (end < text.size() && text[end] != c && text[end] != '\n') { end += text[end] == '\\' ? 2 : 1; }
      end = std::min(end + 1, text.size());
    }
    bool const blank = end > i + 1 && !(c == '"' && in_include);
    if (blank) {
      std::replace_if(
          text.begin() + static_cast<std::ptrdiff_t>(i), text.begin() + static_cast<std::ptrdiff_t>(end),
          [](char x) { return x != '\n'; }, ' ');
    }
    in_include =
        (in_include && c != '\n') || text.compare(i, 8, "include ") == 0 || text.compare(i, 8, "include\"") == 0;
    i = end;
  }
  return text;
}

/// Checks one header. `root` is include/fp4, `header` a path below it, `text` its contents.
inline std::vector<violation> check_header(fs::path const& root, fs::path const& header, std::string const& text) {
  static std::regex const include_line(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  static std::regex const conditional(R"(^\s*#\s*(if|ifdef|ifndef|elif)\b)");
  static std::regex const defined_macro(R"(^\s*#\s*define\s+(\w+))");
  static std::regex const reserved_name(R"(\b_[_A-Z]\w*)");
  static std::regex const predefined(
      R"(\b(__GNUC__|__clang__|_MSC_VER|__x86_64__|__aarch64__|_M_X64|_M_ARM64|__ARM_\w+|__CUDA_ARCH__|__CUDACC\w*|)"
      R"(__NVCC__|__AVX\w*__|__SSE\w*__|__FMA__|__F16C__|_OPENMP|__FAST_MATH__|__cplusplus|__cpp_\w+)\b)");
  static std::regex const assembly(R"(\b(asm|__asm|__asm__)\b)");
  static std::regex const intrinsics(R"(^(\w*intrin|cpuid|arm_\w+)\.h$)");
  static std::regex const cuda(R"(^(cuda|cub/|thrust/|cooperative_groups|nv/|mma\.h|curand|crt/).*)");
  static rooms const portable{"format", "random", "rounding", "scaling", "transform", "layout", "choices"};

  std::vector<violation> found;
  int line_number = 0;
  auto const report = [&](std::string const& what) { found.push_back({header.generic_string(), line_number, what}); };

  std::string const room = room_of(header);
  if (room.empty()) { report("is in no room of the plan"); }
  std::string const name = header.generic_string();

  std::istringstream lines(without_comments_and_literals(text));
  for (std::string line; std::getline(lines, line);) {
    ++line_number;
    std::smatch match;
    if (std::regex_search(line, match, include_line)) {
      std::string const target = match[2];
      bool const quoted = match[1] == "\"";
      if (quoted || target.rfind("fp4/", 0) == 0) {
        fs::path const path = target.rfind("fp4/", 0) == 0 ? fs::path(target).lexically_relative("fp4")
                                                           : (header.parent_path() / target).lexically_normal();
        std::string const other = room_of(path);
        if (!fs::exists(root / path)) { report("includes " + target + ", which does not exist"); }
        if (other != room && may_see(room).count(other) == 0) {
          report(room + " must not include " + (other.empty() ? target : other));
        }
        if (header.extension() == ".hpp" && path.extension() == ".cuh") { report("a .hpp includes a .cuh"); }
      } else if (std::regex_match(target, intrinsics)) {
        if (name.rfind("cpu/detail/", 0) != 0) { report("intrinsics belong in cpu/detail: " + target); }
      } else if (std::regex_match(target, cuda)) {
        if (room != "gpu" && room != "config") { report("CUDA headers belong in gpu: " + target); }
      } else if (portable.count(room) != 0) {
        report("only config.hpp may include a standard header here: " + target);
      }
      continue;
    }
    if (room != "config" && std::regex_search(line, match, predefined)) {
      report("only config.hpp asks for compiler or target: " + match.str());
    } else if (room != "config" && std::regex_search(line, conditional) &&
               std::regex_search(line, match, reserved_name)) {
      report("only config.hpp asks for compiler or target: " + match.str());
    }
    if (std::regex_search(line, match, defined_macro) && match.str(1).rfind("FP4_", 0) != 0) {
      report("a macro must begin with FP4_: " + match.str(1));
    }
    if (name.rfind("gpu/detail/ptx", 0) != 0 && std::regex_search(line, assembly)) {
      report("assembly belongs in gpu/detail/ptx*.cuh");
    }
  }
  return found;
}

/// Checks every header below `root` (include/fp4).
inline std::vector<violation> check_tree(fs::path const& root) {
  std::vector<violation> found;
  for (fs::directory_entry const& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) { continue; }
    std::ifstream file(entry.path());
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    std::vector<violation> const more = check_header(root, entry.path().lexically_relative(root), text);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace layering
