#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the plots of docs/benchmarks.md and prints its tables, from the files that the preset `bench` leaves.

    python3 -m venv venv && venv/bin/pip install matplotlib
    venv/bin/python bench/plot.py --bench=build/bench/bench.json --ratios=build/bench/ratios.json --out=docs
"""

import argparse
import json
import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

SIZES = ("L2", "L3", "DRAM")
COLORS = {"L2": "#9ecae1", "L3": "#4292c6", "DRAM": "#084594"}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def label(operation, value_type):
    name = operation.replace("/", " ").replace("_", " ")
    return name if value_type in name or value_type == "bytes" else f"{name}, {value_type}"


def rates(bench):
    """(operation, type, size, threads) -> GB/s: what is written for writers, else what is read."""
    found = {}
    for row in bench["benchmarks"]:
        parts = row["name"].split("/")
        if "openmp:2" in parts:
            continue
        *operation, value_type, size, threads = parts
        operation = "/".join(operation)
        writes = "write" in operation or "dequantize" in operation
        key = (operation, value_type, size, int(threads.split(":")[1]))
        found[key] = row["out_B/s" if writes else "in_B/s"] * 1e-9
    return found


def draw_throughput(found, path):
    rows = []
    for operation, value_type, _, _ in found:
        in_all_types = operation in ("quantize/nearest", "dequantize")
        if (operation, value_type) not in rows and (value_type in ("fp32", "bytes") or in_all_types):
            rows.append((operation, value_type))
    figure, axes = plt.subplots(figsize=(8, 0.2 * len(rows) + 1))
    for size in SIZES:
        points = [(found[(*row, size, 1)], -i) for i, row in enumerate(rows) if (*row, size, 1) in found]
        if points:
            axes.plot(*zip(*points), "o", color=COLORS[size], markersize=4, label=size)
    for name, value_type, style in (("limit/read", "fp32", "--"), ("limit/write_non_temporal", "fp32", ":")):
        if (name, value_type, "DRAM", 1) in found:
            axes.axvline(found[(name, value_type, "DRAM", 1)], color="grey", linestyle=style, linewidth=0.8,
                         label=f"{label(name, value_type)}, DRAM")
    axes.set_yticks([-i for i in range(len(rows))], [label(*row) for row in rows], fontsize=7)
    axes.set_ylim(-len(rows) + 0.5, 0.5)
    axes.set_xscale("log")
    axes.set_xlabel("GB/s on one thread: bytes read, or written by dequantization and the write limits")
    axes.grid(axis="x", which="both", linewidth=0.3)
    axes.legend(fontsize=7)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def short(baseline):
    return {"limit/read/fp32": "stream read", "limit/write_non_temporal/fp32": "non-temporal write",
            "limit/write/fp32": "write", "limit/memcpy/fp32": "memcpy",
            "quantize/nearest/fp32": "quantize nearest"}.get(baseline, baseline)


def draw_ratios(ratios, path):
    with_goal = [r for r in ratios["results"] if r["goal"] is not None]
    names = []
    for r in with_goal:
        name = (r["operation"], r["type"], r["baseline"])
        if name not in names:
            names.append(name)
    figure, panels = plt.subplots(1, 2, figsize=(9, 0.32 * len(names) + 1), sharey=True)
    for threads, axes in zip((1, 2), panels):
        for i, name in enumerate(names):
            for r in with_goal:
                if (r["operation"], r["type"], r["baseline"]) != name or r["threads"] != threads:
                    continue
                ratio = r["ratio"]
                axes.plot([100 * ratio["min"], 100 * ratio["max"]], [-i, -i], color="#4292c6", linewidth=1)
                axes.plot(100 * ratio["median"], -i, "o", color="#084594", markersize=5,
                          label="measured, with range" if i == 0 else None)
                axes.plot(100 * r["goal"], -i, "|", color="#d94801", markersize=12, markeredgewidth=2,
                          label="goal" if i == 0 else None)
                if r["aim"] is not None:
                    axes.plot(100 * r["aim"], -i, "|", color="#238b45", markersize=12, markeredgewidth=2,
                              label="aim" if i == 0 else None)
        axes.set_title(f"{threads} thread{'s' if threads > 1 else ''}", fontsize=9)
        axes.set_xlabel("% of the baseline")
        axes.set_xlim(left=0)
        axes.grid(axis="x", linewidth=0.3)
    panels[0].set_yticks([-i for i in range(len(names))],
                         [f"{label(o, t)} : {short(b)}" for o, t, b in names], fontsize=7)
    panels[0].legend(fontsize=7)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def percent(x):
    return "" if x is None else f"{100 * x:.0f} %" if x >= 0.1 else f"{100 * x:.1f} %"


def print_ratios(ratios):
    print("| operation | values | threads | GB/s | ratio, median [min-max] | to | its GB/s | goal | aim |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in ratios["results"]:
        s = r["ratio"]
        print(f"| {r['operation']} | {r['type']} | {r['threads']} | {r['GB/s']['median']:.2f} | "
              f"**{percent(s['median'])}** [{percent(s['min'])[:-2]}-{percent(s['max'])[:-2]}] | {short(r['baseline'])} | "
              f"{r['baseline_GB/s']['median']:.1f} | {percent(r['goal'])} | {percent(r['aim'])} |")


def print_rates(found):
    columns = [(size, threads) for size in SIZES for threads in (1, 2)]
    print("| operation | values | " + " | ".join(f"{s}, {t}" for s, t in columns) + " |")
    print("|---|---|" + "---|" * len(columns))
    for operation, value_type in dict.fromkeys(key[:2] for key in found):
        cells = (found.get((operation, value_type, *column)) for column in columns)
        print(f"| {operation} | {value_type} | " + " | ".join("" if c is None else f"{c:.3g}" for c in cells) + " |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bench", required=True, help="bench.json of fp4_bench")
    arguments.add_argument("--ratios", required=True, help="ratios.json of fp4_ratios")
    arguments.add_argument("--out", default="docs", help="folder for the plots")
    given = arguments.parse_args()
    out = pathlib.Path(given.out)
    plt.rcParams["svg.fonttype"] = "none"
    plt.rcParams["svg.hashsalt"] = "fp4"
    found, ratios = rates(load(given.bench)), load(given.ratios)
    draw_throughput(found, out / "benchmarks_throughput.svg")
    draw_ratios(ratios, out / "benchmarks_ratios.svg")
    print_ratios(ratios)
    print()
    print_rates(found)


if __name__ == "__main__":
    main()
