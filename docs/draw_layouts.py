#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/layouts.md from what the index functions return: print_layouts.cpp says which boxes.

    python3 -m venv venv && venv/bin/pip install matplotlib
    venv/bin/python docs/draw_layouts.py
"""

import collections
import csv
import os
import pathlib
import subprocess
import tempfile

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

DOCS = pathlib.Path(__file__).resolve().parent

# file -> pictures below each other: (name, heading, axis across, axis down, colours, cell size in inches)
FILES = {
    "layouts_mma_a": [("mma_m16n8k64_a", "A of m16n8k64: lane T, register a; 8 codes a box", "k", "m", 32, (0.11, 0.2))],
    "layouts_mma_bc": [
        ("mma_m16n8k64_b", "B of m16n8k64", "k", "n", 32, (0.11, 0.2)),
        ("mma_m16n8k64_c", "C and D", "n", "m", 32, (0.5, 0.2)),
    ],
    "layouts_mma_k32": [
        ("mma_m16n8k32_a", "A of m16n8k32: 4 containers a box", "k", "m", 32, (0.18, 0.2)),
        ("mma_m16n8k32_b", "B of m16n8k32", "k", "n", 32, (0.18, 0.2)),
    ],
    "layouts_mma_scales": [
        ("mma_m16n8k64_scales_a", "Scales of A, 4X: lane.byte for thread-id 0, 1", "blocks 0 to 3", "m", 32, (0.5, 0.2)),
        ("mma_m16n8k64_scales_b", "Scales of B, 4X: thread-id 0, 1, 2, 3", "blocks 0 to 3", "n", 32, (0.5, 0.2)),
    ],
    "layouts_fragment_order": [
        ("fragment_codes_a", "A in fragment order: 16 bytes a lane", "byte", "64 bytes", 32, (0.1, 0.25)),
        ("fragment_codes_b", "B in fragment order", "byte", "64 bytes", 32, (0.1, 0.25)),
    ],
    "layouts_scales": [
        ("tiled_128x4_scales", "128x4: row of each word", "byte", "16 bytes", 128, (0.11, 0.17)),
        ("tiled_32x4_scales", "32x4", "byte", "16 bytes", 32, (0.11, 0.17)),
        ("tiled_8x4_scales", "8x4", "byte", "16 bytes", 8, (0.11, 0.17)),
    ],
    "layouts_shared_memory": [
        ("k_major_none", "No swizzle: row r, first code k of 16 bytes", "byte", "128 bytes", 8, (0.055, 0.25)),
        ("k_major_32", "32 bytes", "byte", "128 bytes", 8, (0.055, 0.25)),
        ("k_major_64", "64 bytes", "byte", "128 bytes", 8, (0.055, 0.25)),
        ("k_major_128", "128 bytes", "byte", "128 bytes", 8, (0.055, 0.25)),
    ],
    "layouts_tensor_memory": [
        ("tensor_memory_scales", "Scales of 256 rows in tensor memory, every eighth lane", "column", "lane / 8", 256, (0.5, 0.15)),
    ],
    "layouts_gguf": [
        ("gguf_nvfp4_block", "GGUF: 4 scales s, then bytes of a low and a high code", "byte", "8 bytes", 4, (0.6, 0.25)),
    ],
}


def boxes():
    """name -> [(row, column, width, colour, label)], from the compiled functions."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "print_layouts"
        subprocess.run(
            [os.environ.get("CXX", "g++"), "-std=c++17", f"-I{DOCS.parent / 'include'}", DOCS / "print_layouts.cpp", "-o", program],
            check=True,
        )
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    found = collections.defaultdict(list)
    for name, row, column, width, colour, label in csv.reader(lines.splitlines()):
        found[name].append((int(row), int(column), int(width), int(colour), label))
    return found


def draw(axes, cells, heading, across, down, colours):
    colour_of = plt.get_cmap("turbo")
    for row, column, width, colour, label in cells:
        face = colour_of((colour + 0.5) / colours)
        face = tuple(0.45 * c + 0.55 for c in face[:3])
        axes.add_patch(plt.Rectangle((column, row), width, 1, facecolor=face, edgecolor="white", linewidth=0.8))
        axes.text(column + width / 2, row + 0.53, label, ha="center", va="center", fontsize=6)
    columns = max(column + width for _, column, width, _, _ in cells)
    rows = max(row for row, *_ in cells) + 1
    axes.set(xlim=(0, columns), ylim=(rows, 0), xlabel=across, ylabel=down)
    axes.set_title(heading, fontsize=8, loc="left")
    steps = sorted({column for _, column, *_ in cells})
    axes.set_xticks([] if "blocks" in across else steps if len(steps) <= 16 else steps[::2])
    axes.set_yticks(range(0, rows, 1 if rows <= 16 else 4))
    axes.tick_params(labelsize=6, length=0)
    axes.xaxis.label.set_size(7)
    axes.yaxis.label.set_size(7)
    for side in axes.spines.values():
        side.set_visible(False)


def main():
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "fp4", "font.family": "sans-serif"})
    cells = boxes()
    for file, pictures in FILES.items():
        sizes = []
        for name, _, _, _, _, (width, height) in pictures:
            columns = max(column + w for _, column, w, _, _ in cells[name])
            rows = max(row for row, *_ in cells[name]) + 1
            sizes.append((columns * width + 0.5, rows * height + 0.6))
        figure, axes = plt.subplots(
            len(pictures),
            1,
            figsize=(max(w for w, _ in sizes), sum(h for _, h in sizes)),
            gridspec_kw={"height_ratios": [h for _, h in sizes]},
            squeeze=False,
            layout="constrained",
        )
        for ax, (name, heading, across, down, colours, _) in zip(axes[:, 0], pictures):
            draw(ax, cells[name], heading, across, down, colours)
        figure.savefig(DOCS / f"{file}.svg", metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
