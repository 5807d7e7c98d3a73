# SPDX-License-Identifier: Apache-2.0
"""Sixty steps of training: the loss falls under every plan, and an interrupted run continues bit for bit."""

import glob
import json
import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

TRAIN = pathlib.Path(__file__).parents[2] / "examples" / "jax" / "train.py"
sys.path.insert(0, str(TRAIN.parent))

from training import model, plans, plot
from training.run import Settings, train
from training.text import PERL_DOC, Text

# The text of the long runs where it is installed; the manuals of this project elsewhere.
DOCS = str(TRAIN.parents[2] / "docs" / "*.md")
STEPS = 60


TEXT = Text(PERL_DOC if glob.glob(PERL_DOC) else DOCS)


def settings(plan, **changes):
    return Settings(plan, steps=STEPS, warmup=10, config=model.SMALL, **changes)


def metrics_of(folder, name):
    return json.loads((folder / name / "metrics.json").read_text())


@pytest.fixture(scope="module")
def whole_runs(tmp_path_factory):
    """A function: the folder of whole runs, with that of a plan in it."""
    folder = tmp_path_factory.mktemp("runs")

    def run(plan):
        assert train(settings(plan), TEXT, folder)
        return folder

    return run


@pytest.mark.parametrize("plan", plans.PLANS)
def test_losses_fall(whole_runs, plan):
    metrics = metrics_of(whole_runs(plan), settings(plan).name)
    assert metrics["step"] == STEPS and len(metrics["losses"]) == STEPS // 10 and not metrics["pending"]
    assert abs(metrics["losses"][0] - np.log(256)) < 1.2  # ten steps from uniform
    assert metrics["losses"][-1] < metrics["losses"][0] - 1
    assert abs(metrics["held_out"][-1][1] - metrics["losses"][-1]) < 0.7
    assert [step for step, _ in metrics["held_out"]] == [STEPS]


def test_plans_differ(whole_runs):
    losses = {plan: metrics_of(whole_runs(plan), settings(plan).name)["losses"] for plan in plans.PLANS}
    assert len({json.dumps(one) for one in losses.values()}) == len(plans.PLANS)
    # Sixty steps say little, but not nothing: four bits stay within a tenth of a nat of sixteen.
    assert abs(plot.mean_gap({"losses": losses["te_nvfp4"]}, {"losses": losses["bf16"]})) < 0.1


def test_an_interrupted_run_continues_bit_for_bit(tmp_path, whole_runs):
    how = settings("te_nvfp4")
    assert not train(how, TEXT, tmp_path / "parts", lambda step: step == 23)  # in the middle of an average
    assert metrics_of(tmp_path / "parts", how.name)["step"] == 23
    assert not train(how, TEXT, tmp_path / "parts", lambda step: step == 41)
    assert train(how, TEXT, tmp_path / "parts")
    folders = whole_runs("te_nvfp4"), tmp_path / "parts"
    whole, parts = (np.load(folder / how.name / "checkpoint.npz") for folder in folders)
    assert set(whole.files) == set(parts.files) and len(whole.files) > 40
    for name in set(whole.files) - {"metrics"}:
        assert whole[name].tobytes() == parts[name].tobytes(), name
    a, b = (metrics_of(folder, how.name) for folder in folders)
    del a["seconds"], b["seconds"]
    assert a == b


def test_a_killed_run_continues(tmp_path):
    """From outside: a process that is stopped in mid-run saves, and the same command ends it."""
    command = [sys.executable, TRAIN, "run", "--small", "--plan", "bf16", "--steps", "400", "--out", tmp_path,
               "--text", DOCS]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    folder = tmp_path / "bf16-400-s0"
    try:
        while not (folder / "metrics.json").exists() and process.poll() is None:  # saved at step 200
            os.sched_yield()
    finally:
        process.terminate()
    errors = process.communicate()[1]
    assert process.returncode == 1, errors
    assert "interrupted, can be resumed" in errors
    reached = metrics_of(tmp_path, "bf16-400-s0")["step"]
    assert 200 <= reached < 400
    subprocess.run(command, check=True, capture_output=True)
    assert metrics_of(tmp_path, "bf16-400-s0")["step"] == 400


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    how = settings("bf16")
    train(how, TEXT, tmp_path, lambda step: step == 1)
    with pytest.raises(SystemExit, match="is of another run: its settings"):
        train(settings("bf16", peak=1.0), TEXT, tmp_path)
    other = Text(str(TRAIN))
    with pytest.raises(SystemExit, match="is of another run: its text"):
        train(how, other, tmp_path)


def test_plots_and_tables(tmp_path, capsys):
    for plan in ("bf16", "te_nvfp4"):
        train(settings(plan), TEXT, tmp_path / "runs", lambda step: step == 30)
    plot.report(tmp_path / "runs", tmp_path / "kept")
    printed = capsys.readouterr().out
    assert "| te_nvfp4 | 0 | 30 |" in printed and "| bf16 | 0 | 30 |" in printed
    assert (tmp_path / "kept" / f"curves-{STEPS}.png").stat().st_size > 10_000
    assert plot.load(tmp_path / "kept") == plot.load(tmp_path / "runs")
    a, b = {"losses": [3.0, 2.0]}, {"losses": [2.5, 2.0, 9.0]}
    assert plot.mean_gap(a, b) == 0.25 and plot.mean_gap(a, b, 0.5) == 0


def test_the_model_is_a_llama_of_its_size():
    assert 1_000_000 < model.count(model.Config()) < 3_000_000
    parameters = model.initial(model.SMALL, 0)
    tokens = jnp.arange(2 * 64).reshape(2, 64).astype(jnp.uint8)
    run = lambda tokens: model.logits(model.SMALL, plans.Plan(None, ()), parameters, tokens, jax.random.key(0), 0)
    before, after = run(tokens), run(tokens.at[:, 40].set(7))
    np.testing.assert_allclose(before[:, :40], after[:, :40], atol=1e-5)  # causal
    assert np.abs(np.asarray(before[:, 40:] - after[:, 40:])).max() > 1e-3
    repeated = run(jnp.zeros((1, 64), jnp.uint8))
    np.testing.assert_allclose(repeated[0, 5], repeated[0, 50], atol=1e-4)  # a mean of equal values: no position shows
