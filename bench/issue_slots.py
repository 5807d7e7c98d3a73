#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Issue slots an element and registers of the hot kernels, against their limits: no GPU needed.

    python3 bench/issue_slots.py [--nvcc nvcc] [--nvdisasm nvdisasm] [sm_90 sm_100a sm_120a]

Compiles bench/hot_kernels.cu for each target and prints a table; ends with 1 where a limit is exceeded or a register is
spilled, with 77 where nvdisasm is missing (PyPI: nvidia-cuda-nvdisasm).
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import count_sass

HERE = pathlib.Path(__file__).parent
# What it does, what its mangled name contains, wide loads and stores for 64 elements, and the most slots on sm_90,
# sm_100a and sm_120a. (Hadamard 16 may add 6.5, 2.6 and 4.5 to nearest.)
KERNELS = [
    ("nearest", ("quantize_rows", "nearest_even", "no_transform"), 8, 4, (9.0, 3.6, 4.4)),
    ("stochastic", ("quantize_rows", "stochastic", "no_transform"), 8, 4, (16.0, 6.5, 15.5)),
    ("Hadamard 16, nearest", ("quantize_rows", "nearest_even", "hadamard"), 8, 4, (15.0, 5.98, 8.31)),
    ("Hadamard 16, stochastic", ("quantize_rows", "stochastic", "hadamard"), 8, 4, (22.0, 10.0, 21.5)),
    ("dequantize", ("dequantize_rows",), 4, 8, (4.5, 3.3, 3.8)),
]
COLUMNS = ["sm_90", "sm_100a", "sm_120a"]
# Registers of a thread: more would leave too few warps to hide memory's latency.
MOST_REGISTERS = {"Hadamard 16, stochastic": 128}


def compiled(nvcc, target, folder):
    """The machine code's file, and (name, registers, spilled bytes) of its kernels."""
    cubin = folder / f"{target}.cubin"
    done = subprocess.run(
        [nvcc, "-std=c++17", "-O2", f"-I{HERE.parent / 'include'}", f"-arch={target}", "-cubin", "-Xptxas", "-v",
         HERE / "hot_kernels.cu", "-o", cubin], check=True, capture_output=True, text=True)
    found = re.findall(r"entry function '(\S+)'.*?\n.*?\n\s+(\d+) bytes stack.*?\n.*?Used (\d+) registers", done.stderr)
    return cubin, {name: (int(registers), int(stack)) for name, stack, registers in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=COLUMNS)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--nvdisasm", default="nvdisasm")
    args = parser.parse_args()
    if shutil.which(args.nvdisasm) is None:
        print(f"{args.nvdisasm} was not found (PyPI: nvidia-cuda-nvdisasm)")
        sys.exit(77)
    good, table = True, {}
    with tempfile.TemporaryDirectory() as folder:
        for target in args.targets:
            cubin, resources = compiled(args.nvcc, target, pathlib.Path(folder))
            code = {name: (lines, labels) for name, lines, labels in count_sass.kernels(cubin, args.nvdisasm)}
            for title, parts, loads, stores, limits in KERNELS:
                name, = [n for n in code if all(part in n for part in parts)]
                load = r"\bLDG\.\S*64" if "dequantize" in title else r"\bLDG\.\S*(128|256)"
                found = count_sass.hot_path(*code[name], (loads, stores, 16), load)
                if found is None:
                    sys.exit(f"{title} on {target}: no such path")
                slots, (registers, stack) = found[0] / 64, resources[name]
                table[title, target] = f"{slots:.2f} ({registers})"
                most = limits[COLUMNS.index(target)] if target in COLUMNS else None
                if stack or registers > MOST_REGISTERS.get(title, 64) or (most is not None and slots > most):
                    print(f"{title} on {target}: {slots:.2f} slots (at most {most}), {registers} registers, "
                          f"{stack} bytes of stack")
                    good = False
    print("| slots an element (registers) | " + " | ".join(args.targets) + " |")
    print("|---" * (len(args.targets) + 1) + "|")
    for title, *_ in KERNELS:
        print(f"| {title} | " + " | ".join(table[title, target] for target in args.targets) + " |")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
