// SPDX-License-Identifier: Apache-2.0
// The rooms of include/fp4 depend on one another in one direction only, and the checker that says so sees
// each kind of violation when one is planted.
#include "catch.hpp"
#include "layering.hpp"

#include <random>

namespace {

namespace fs = std::filesystem;

fs::path const library = fs::path(FP4_TEST_DIR).parent_path() / "include" / "fp4";

struct planted {
  char const* header;
  char const* text;
  char const* expected;  // part of the one violation, or null when there must be none
};

planted const cases[] = {
    // Directions between rooms.
    {"format/x.hpp", "#include <fp4/layout/views.hpp>", "format must not include layout"},
    {"format/x.hpp", "#include \"../random/philox.hpp\"", "format must not include random"},
    {"rounding/x.hpp", "#include \"../scaling/presets.hpp\"", "rounding must not include scaling"},
    {"scaling/x.hpp", "#include \"../choices.hpp\"", "scaling must not include choices"},
    {"transform/x.hpp", "  #  include <fp4/cpu/quantize.hpp>", "transform must not include cpu"},
    {"layout/x.hpp", "#include \"../metrics/metrics.hpp\"", "layout must not include metrics"},
    {"metrics/x.hpp", "#include \"../rounding/rounding.hpp\"", "metrics must not include rounding"},
    {"metrics/x.hpp", "#include \"../reference/quantize.hpp\"", "metrics must not include reference"},
    {"choices.hpp", "#include \"cpu/quantize.hpp\"", "choices must not include cpu"},
    {"reference/x.hpp", "#include \"../cpu/quantize.hpp\"", "reference must not include cpu"},
    {"cpu/detail/x.hpp", "#include \"../../reference/quantize.hpp\"", "cpu must not include reference"},
    {"gpu/x.cuh", "#include \"../cpu/quantize.hpp\"", "gpu must not include cpu"},
    {"cpu/x.hpp", "#include <fp4/fp4.hpp>", "cpu must not include front"},
    {"error.hpp", "#include \"format/bits.hpp\"", "error must not include format"},
    {"config.hpp", "#include \"error.hpp\"", "config must not include error"},
    {"recipe/x.hpp", "#include \"../quantize.hpp\"", "recipe must not include front"},
    {"quantized.hpp", "#include \"recipe/table.hpp\"", "quantized must not include recipe"},
    {"fp4.hpp", "#include \"gpu/quantize.cuh\"", "a .hpp includes a .cuh"},
    {"layout/x.hpp", "#include \"gone.hpp\"", "includes gone.hpp, which does not exist"},
    {"utils/x.hpp", "", "is in no room of the plan"},
    {"helpers.hpp", "", "is in no room of the plan"},
    // Who may include what from outside.
    {"cpu/x.hpp", "#include <immintrin.h>", "intrinsics belong in cpu/detail: immintrin.h"},
    {"layout/x.hpp", "#include <arm_neon.h>", "intrinsics belong in cpu/detail: arm_neon.h"},
    {"cpu/x.hpp", "#include <cuda_fp16.h>", "CUDA headers belong in gpu: cuda_fp16.h"},
    {"format/x.hpp", "#include <cuda/std/cstdint>", "CUDA headers belong in gpu: cuda/std/cstdint"},
    {"random/x.hpp", "#include <cstdint>", "only config.hpp may include a standard header here: cstdint"},
    {"choices.hpp", "#include <utility>", "only config.hpp may include a standard header here: utility"},
    // Compilers, targets, macros and assembly.
    {"cpu/x.hpp", "#ifdef __AVX2__\n#endif", "only config.hpp asks for compiler or target: __AVX2__"},
    {"cpu/x.hpp", "#if FP4_X && defined(_OPENMP)\n#endif", "only config.hpp asks for compiler or target: _OPENMP"},
    {"cpu/x.hpp", "#if defined(__mips__)\n#endif", "only config.hpp asks for compiler or target: __mips__"},
    {"cpu/x.hpp", "int x = __GNUC__;", "only config.hpp asks for compiler or target: __GNUC__"},
    {"gpu/x.cuh", "#if __CUDA_ARCH__ >= 1000\n#endif", "only config.hpp asks for compiler or target: __CUDA_ARCH__"},
    {"format/x.hpp", "#define MAX(a, b) a", "a macro must begin with FP4_: MAX"},
    {"gpu/x.cuh", "asm volatile(\"\");", "assembly belongs in gpu/detail/ptx*.cuh"},
    {"cpu/x.hpp", "__asm__(\"\");", "assembly belongs in gpu/detail/ptx*.cuh"},
    // What is allowed.
    {"config.hpp", "#if defined(__GNUC__)\n#include <cuda/std/cstdint>\n#include <cstdint>\n#endif", nullptr},
    {"cpu/detail/x.hpp", "#include <immintrin.h>\n#include <vector>\n#include \"../quantize.hpp\"", nullptr},
    {"gpu/detail/ptx.cuh", "#include <cuda_fp16.h>\nasm volatile(\"\");", nullptr},
    {"gpu/detail/ptx_matrix.cuh", "asm volatile(\"\");", nullptr},
    {"fp4.cuh", "#include \"gpu/quantize.cuh\"", nullptr},
    {"quantize.hpp", "#include <fp4/cpu/quantize.hpp>\n#include <vector>", nullptr},
    {"metrics/x.hpp", "#include <fp4/layout/views.hpp>\n#include <cmath>", nullptr},
    {"format/x.hpp", "// asm __GNUC__\n/* #include <vector>\n*/ char const* s = \"asm // \" \"__AVX2__\"; int y;",
     nullptr},
    {"format/x.hpp", "__attribute__((always_inline)) int x; char q = '\"'; int z = '\\'';", nullptr},
    {"recipe/x.hpp", "#include \"../quantized.hpp\"\n#include \"../cpu/quantize.hpp\"", nullptr},
    {"format/x.hpp", "#if FP4_HAS_AVX2_PATH\n#define FP4_X 1\n#endif", nullptr},
};

std::string describe(std::vector<layering::violation> const& found) {
  std::string text;
  for (layering::violation const& v : found) {
    text += "include/fp4/" + v.file + ":" + std::to_string(v.line) + ": " + v.what + "\n";
  }
  return text;
}

/// A folder that holds the headers which the planted ones include; removed at the end.
struct temporary_tree {
  fs::path root = fs::temp_directory_path() / ("fp4_layering_" + std::to_string(std::random_device{}()));

  temporary_tree() {
    for (char const* header :
         {"config.hpp", "error.hpp", "format/bits.hpp", "random/philox.hpp", "rounding/rounding.hpp",
          "scaling/presets.hpp", "layout/views.hpp", "choices.hpp", "metrics/metrics.hpp", "reference/quantize.hpp",
          "cpu/quantize.hpp", "gpu/quantize.cuh", "quantize.hpp", "quantized.hpp", "recipe/table.hpp", "fp4.hpp"}) {
      write(header, "#pragma once\n");
    }
  }
  ~temporary_tree() { fs::remove_all(root); }
  temporary_tree(temporary_tree const&) = delete;
  temporary_tree& operator=(temporary_tree const&) = delete;

  void write(fs::path const& header, std::string const& text) const {
    fs::create_directories((root / header).parent_path());
    std::ofstream(root / header) << text;
  }
};

TEST_CASE("the library keeps its directions") {
  REQUIRE(fs::exists(library / "config.hpp"));
  CHECK(describe(layering::check_tree(library)) == "");
}

TEST_CASE("a planted violation is found, and nothing else") {
  for (planted const& c : cases) {
    temporary_tree const tree;
    REQUIRE(describe(layering::check_tree(tree.root)) == "");
    tree.write(c.header, c.text);
    auto const found = layering::check_tree(tree.root);
    INFO(c.header << ": " << c.text << "\nfound:\n" << describe(found));
    if (c.expected == nullptr) {
      CHECK(found.empty());
    } else {
      REQUIRE(found.size() == 1);
      CHECK(found[0].what == c.expected);
      CHECK(found[0].file == c.header);
    }
  }
}

TEST_CASE("a violation names its line") {
  temporary_tree const tree;
  tree.write("cpu/x.hpp", "// one\n/* two\nthree */\n#include <immintrin.h>\n");
  auto const found = layering::check_tree(tree.root);
  REQUIRE(found.size() == 1);
  CHECK(found[0].line == 4);
}

}  // namespace
