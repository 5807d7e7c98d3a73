#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the plots of docs/benchmarks.md and fills in its tables, from the files that the preset `bench` leaves.

    python3 -m venv venv && venv/bin/pip install matplotlib numpy ml_dtypes
    venv/bin/python bench/peers.py --json=build/bench/peers.json
    venv/bin/python bench/plot.py --results=build/bench --docs=docs
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


def ratio_table(ratios):
    yield "| operation | values | threads | GB/s | ratio, median [min-max] | to | its GB/s | goal | aim |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for r in ratios["results"]:
        s = r["ratio"]
        yield (f"| {r['operation']} | {r['type']} | {r['threads']} | {r['GB/s']['median']:.2f} | "
               f"**{percent(s['median'])}** [{percent(s['min'])[:-2]}-{percent(s['max'])[:-2]}] | "
               f"{short(r['baseline'])} | {r['baseline_GB/s']['median']:.1f} | {percent(r['goal'])} | "
               f"{percent(r['aim'])} |")


def rate_table(found):
    columns = [(size, threads) for size in SIZES for threads in (1, 2)]
    yield "| operation | values | " + " | ".join(f"{s}, {t}" for s, t in columns) + " |"
    yield "|---|---|" + "---|" * len(columns)
    for operation, value_type in dict.fromkeys(key[:2] for key in found):
        cells = (found.get((operation, value_type, *column)) for column in columns)
        yield f"| {operation} | {value_type} | " + " | ".join("" if c is None else f"{c:.3g}" for c in cells) + " |"


def peer_table(found, peers):
    """256 KiB of fp32 on one thread."""
    rates_of = {"fp4": [found["quantize/nearest", "fp32", "L2", 1], found["dequantize", "fp32", "L2", 1]]}
    rows = {("peer/cuda_headers_" + work): found.get(("peer/cuda_headers_" + work, "fp32", "L2", 1))
            for work in ("quantize", "dequantize")}
    rows |= {r["operation"]: r["GB/s"] for r in peers["results"] if r["size"] == "L2"}
    for peer, name in (("cuda_headers", "CUDA's headers on the host"),
                       ("ml_dtypes", f"NumPy and ml_dtypes {peers['context']['ml_dtypes']}")):
        both = [rows.get(f"peer/{peer}_{work}") for work in ("quantize", "dequantize")]
        if None not in both:
            rates_of[name] = both
    yield "| | quantize, GB/s | fp4 is faster by | dequantize, GB/s | fp4 is faster by |"
    yield "|---|---|---|---|---|"
    for name, both in rates_of.items():
        cells = (f"{own:.3g} | {'' if name == 'fp4' else f'{ours / own:.0f} x'}" for own, ours in zip(both, rates_of["fp4"]))
        yield f"| {name} | " + " | ".join(cells) + " |"


def fill_in(page, name, lines):
    """Replaces what stands between the marks of that name."""
    begin, end = f"<!-- {name}: written by bench/plot.py -->", f"<!-- end of {name} -->"
    before, rest = page.split(begin)
    return before + begin + "\n" + "\n".join(lines) + "\n" + end + rest.split(end)[1]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--results", default="build/bench", help="folder of bench.json, ratios.json, peers.json")
    arguments.add_argument("--docs", default="docs", help="folder of benchmarks.md and the plots")
    given = arguments.parse_args()
    results, docs = pathlib.Path(given.results), pathlib.Path(given.docs)
    found, ratios = rates(load(results / "bench.json")), load(results / "ratios.json")

    plt.rcParams["svg.fonttype"] = "none"
    plt.rcParams["svg.hashsalt"] = "fp4"
    draw_throughput(found, docs / "benchmarks_throughput.svg")
    draw_ratios(ratios, docs / "benchmarks_ratios.svg")

    context = ratios["context"]
    about = (f"{context['date']}: {context['processor']}, {context['path']} path, {context['compiler']}, "
             f"{context['rounds']} rounds, load average {context['load_after'].split()[0]} after the run.")
    page = (docs / "benchmarks.md").read_text(encoding="utf-8")
    page = fill_in(page, "context", ["", about, ""])
    page = fill_in(page, "ratios", ["", *ratio_table(ratios), ""])
    page = fill_in(page, "rates", ["", *rate_table(found), ""])
    if (results / "peers.json").exists():
        page = fill_in(page, "peers", ["", *peer_table(found, load(results / "peers.json")), ""])
    (docs / "benchmarks.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
