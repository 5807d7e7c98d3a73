# SPDX-License-Identifier: Apache-2.0
"""Trains a small Llama on bytes under a recipe, on any CPU.

    python examples/jax/train.py run --plan te_nvfp4 --seed 0 --out runs
    python examples/jax/train.py all --out runs       # everything that docs/training.md needs; may be interrupted
    python examples/jax/train.py plot --out runs      # the tables, and the curves as PNG
    python examples/jax/train.py time                 # what quantization costs a step

A run that is interrupted (Ctrl-C, SIGTERM, or the machine going away) continues with the same command, bit for bit on
as many CPUs. Several processes may share a folder: a run that another one has in hand is passed over (run_all.sh).
"""

import argparse
import sys


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="one run")
    run.add_argument("--plan", default="te_nvfp4", help="a recipe or an ablation (training/plans.py)")
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--steps", type=int, default=10_000)
    run.add_argument("--small", action="store_true", help="a tiny model, for tests")
    everything = commands.add_parser("all", help="every run of docs/training.md, in order of what they tell")
    plot = commands.add_parser("plot", help="tables and curves of the runs that there are")
    timed = commands.add_parser("time", help="what quantization costs a step")
    for command in (run, everything, timed):
        command.add_argument("--text", default=None, help="glob of files (default: Debian's perl-doc)")
    for command in (run, everything, plot):
        command.add_argument("--out", default="runs", help="folder of the runs")
    plot.add_argument("--keep", default=None, help="folder to copy the metrics to, and to draw in (default: OUT)")
    return parser.parse_args(words)


def settings_of(plan, seed, steps, small=False):
    from training import model
    from training.plans import PLANS
    from training.run import Settings

    if plan not in PLANS:
        raise SystemExit(f"train: a plan is one of {', '.join(PLANS)} (got {plan})")
    return Settings(plan, seed, steps, config=model.SMALL if small else model.Config())


def every_run():
    """The five recipes first, then the second seeds, then the ablations with a te_nvfp4 and bf16 of their length."""
    from training.plans import ABLATIONS, MAIN

    first = ("te_nvfp4", "fp8", "bf16")
    yield from ((plan, 0, 10_000) for plan in first)
    yield from ((plan, 0, 10_000) for plan in MAIN if plan not in first)
    yield from ((plan, 1, 10_000) for plan in first)
    yield from ((plan, 0, 2_000) for plan in ("bf16", "te_nvfp4", *ABLATIONS))
    yield from ((plan, 1, 2_000) for plan in ("bf16", "te_nvfp4"))


def main(words):
    asked = arguments(words)
    if asked.command == "plot":
        from training import plot

        return plot.report(asked.out, asked.keep)
    from training.text import PERL_DOC, Text

    text = Text(asked.text or PERL_DOC)
    if asked.command == "time":
        from training import timing

        return timing.report(text)
    from training.run import Stop, train

    runs = [(asked.plan, asked.seed, asked.steps)] if asked.command == "run" else every_run()
    stop = Stop()
    for plan, seed, steps in runs:
        settings = settings_of(plan, seed, steps, asked.command == "run" and asked.small)
        if not train(settings, text, asked.out, lambda step: bool(stop)) and stop:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
