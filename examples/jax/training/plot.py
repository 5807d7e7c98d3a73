# SPDX-License-Identifier: Apache-2.0
"""Tables and curves from the metrics of runs."""

import json
import pathlib

from .run import AVERAGED


def load(out):
    """The metrics of every run below a folder, by name: OUT/<name>/metrics.json, or OUT/<name>.json as docs keep them."""
    out = pathlib.Path(out)
    found = {f.parent.name: f for f in out.glob("*/metrics.json")} | {f.stem: f for f in out.glob("*-s*.json")}
    runs = {name: json.loads(file.read_text()) for name, file in sorted(found.items())}
    if not runs:
        raise SystemExit(f"train: there are no metrics in {out}")
    return runs


def keep(runs, folder):
    """Copies metrics, so that tables and curves can be made again from FOLDER."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, metrics in runs.items():
        (folder / f"{name}.json").write_text(json.dumps(metrics, separators=(",", ":")) + "\n")


def mean_gap(metrics, base, begin=0.0):
    """Mean difference of training losses, over steps that both have; begin: the share of the run that is left out."""
    pairs = list(zip(metrics["losses"], base["losses"]))
    pairs = pairs[int(begin * len(pairs)) :]
    return sum(a - b for a, b in pairs) / len(pairs)


def _cell(metrics, base, begin=0.0):
    return "" if base is None or base is metrics else f"{mean_gap(metrics, base, begin):+.4f}"


def table(runs, steps):
    """A Markdown table of the runs of a length. Gaps are in nats a byte, against the run of the same seed."""
    chosen = {k: m for k, m in runs.items() if m["settings"]["steps"] == steps and m["losses"]}
    base = lambda plan, m: chosen.get(f"{plan}-{steps}-s{m['settings']['seed']}")
    lines = [
        "| run | seed | steps | held-out loss | gap to bf16, mean | last tenth | gap to fp8, mean | last tenth | ms a step |",
        "|--|--|--|--|--|--|--|--|--|",
    ]
    for m in chosen.values():
        bf16, fp8 = base("bf16", m), base("fp8", m)
        held_out = f"{m['held_out'][-1][1]:.4f}" if m["held_out"] else ""
        lines.append(
            f"| {m['settings']['plan']} | {m['settings']['seed']} | {m['step']} | {held_out} | {_cell(m, bf16)} | "
            f"{_cell(m, bf16, 0.9)} | {_cell(m, fp8)} | {_cell(m, fp8, 0.9)} | {1000 * m['seconds'] / m['step']:.0f} |"
        )
    return "\n".join(lines)


def _smooth(values, width):
    return [sum(values[max(0, i - width + 1) : i + 1]) / min(width, i + 1) for i in range(len(values))]


def curves(runs, steps, png):
    """Two charts: losses, and gaps to bf16 of the same seed; means over 200 steps."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.5), constrained_layout=True)
    for m in runs.values():
        plan, seed = m["settings"]["plan"], m["settings"]["seed"]
        if m["settings"]["steps"] != steps or not m["losses"]:
            continue
        style = dict(label=f"{plan}, seed {seed}", linewidth=1, linestyle="-" if seed == 0 else ":")
        at = [AVERAGED * (i + 1) for i in range(len(m["losses"]))]
        left.plot(at, _smooth(m["losses"], 20), **style)
        base = runs.get(f"bf16-{steps}-s{seed}")
        if base and base is not m:
            gaps = [a - b for a, b in zip(m["losses"], base["losses"])]
            right.plot(at[: len(gaps)], _smooth(gaps, 20), **style)
    left.set(xlabel="step", ylabel="training loss, nats a byte", yscale="log")
    right.set(xlabel="step", ylabel="loss minus that of bf16, nats a byte")
    right.axhline(0, color="black", linewidth=0.5)
    for chart in (left, right):
        chart.grid(alpha=0.3)
        if chart.lines:
            chart.legend(fontsize=7)
    figure.savefig(png, dpi=120)
    pyplot.close(figure)


def report(out, kept=None):
    """Prints a table for every length of run, and draws OUT/curves-<steps>.png."""
    runs = load(out)
    if kept:
        keep(runs, kept)
    for steps in sorted({m["settings"]["steps"] for m in runs.values()}, reverse=True):
        print(f"Runs of {steps} steps\n\n{table(runs, steps)}\n")
        curves(runs, steps, pathlib.Path(kept or out) / f"curves-{steps}.png")
    return 0
