# SPDX-License-Identifier: Apache-2.0
"""One run: AdamW under a cosine schedule, checkpoints, metrics. An interrupted run continues bit for bit."""

import dataclasses
import fcntl
import functools
import json
import os
import pathlib
import platform
import signal
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

from . import model
from .plans import PLANS
from .progress import Progress


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a run depends on. It stands in the metrics, and a checkpoint of another run is refused."""

    plan: str = "te_nvfp4"
    seed: int = 0
    steps: int = 10_000
    batch: int = 8
    peak: float = 3e-3
    warmup: int = 200
    decay: float = 0.1
    config: model.Config = model.Config()

    @property
    def name(self):
        return f"{self.plan}-{self.steps}-s{self.seed}"

    def record(self):
        return json.loads(json.dumps(dataclasses.asdict(self)))


AVERAGED = 10  # steps whose losses are one number in the metrics
EVALUATED = 250  # steps between evaluations on held-out text
SAVED = 200  # steps between checkpoints


def optimizer(settings):
    warmup = min(settings.warmup, settings.steps // 10)
    schedule = optax.warmup_cosine_decay_schedule(0.0, settings.peak, warmup, settings.steps, 0.1 * settings.peak)
    is_matrix = lambda parameters: jax.tree.map(lambda p: p.ndim > 1, parameters)
    return optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(schedule, b1=0.9, b2=0.95, weight_decay=settings.decay, mask=is_matrix),
    )


@functools.cache
def functions(settings):
    """The step and the evaluation of a run, compiled when they are first called."""
    plan, update = PLANS[settings.plan], optimizer(settings).update
    loss = functools.partial(model.loss, settings.config, plan)

    @functools.partial(jax.jit, donate_argnums=0)
    def step(state, tokens, key, count):
        value, gradient = jax.value_and_grad(loss)(state[0], tokens, key, count)
        updates, inner = update(gradient, state[1], state[0])
        return (optax.apply_updates(state[0], updates), inner), value

    @jax.jit
    def evaluate(parameters, batches, key):
        return jax.lax.map(lambda tokens: loss(parameters, tokens, key, jnp.uint32(0)), batches).mean()

    return step, evaluate


def initial_state(settings):
    parameters = model.initial(settings.config, settings.seed)
    return parameters, optimizer(settings).init(parameters)


def _save(folder, state, metrics):
    """State and metrics in one file, which is replaced whole or not at all; metrics once more as JSON."""
    leaves = {str(i): np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(state))}
    for name, write in (
        ("checkpoint.npz", lambda f: np.savez(f, metrics=np.array(json.dumps(metrics)), **leaves)),
        ("metrics.json", lambda f: f.write(json.dumps(metrics, indent=None, separators=(",", ":")).encode())),
    ):
        with open(folder / (name + ".part"), "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(folder / (name + ".part"), folder / name)


def _load(folder, settings, text, state):
    file = folder / "checkpoint.npz"
    if not file.exists():
        return state, None
    with np.load(file) as saved:
        metrics = json.loads(str(saved["metrics"]))
        for what, wanted in (("settings", settings.record()), ("text", text.name)):
            if metrics[what] != wanted:
                raise SystemExit(f"train: {file} is of another run: its {what} is {metrics[what]}, not {wanted}")
        leaves, tree = jax.tree.flatten(state)
        return jax.tree.unflatten(tree, [jnp.asarray(saved[str(i)]) for i in range(len(leaves))]), metrics


class Stop:
    """True once SIGINT or SIGTERM has come: the run saves and ends."""

    def __init__(self):
        self.asked = False
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, self._ask)

    def _ask(self, *_):
        self.asked = True

    def __bool__(self):
        return self.asked


def _lock(folder):
    """The folder's lock while the file is open; None where another process has it."""
    file = open(folder / "lock", "w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return None
    return file


def train(settings, text, out, stop=lambda step: False):
    """Runs to the end, or until stop(step) is true. Returns whether the end was reached.

    Writes out/<name>/checkpoint.npz and metrics.json: losses are means of ten steps, in nats a byte; held_out pairs of a
    step and a loss.
    """
    folder = pathlib.Path(out) / settings.name
    folder.mkdir(parents=True, exist_ok=True)
    lock = _lock(folder)
    if lock is None:
        print(f"{settings.name}: another process has it in hand", file=sys.stderr)
        return False
    with lock:
        return _train(settings, text, folder, stop)


def _train(settings, text, folder, stop):
    state, metrics = _load(folder, settings, text, initial_state(settings))
    if metrics is None:
        metrics = dict(settings=settings.record(), text=text.name, parameters=model.count(settings.config), step=0,
                       seconds=0.0, machine=f"{platform.machine()}, {len(os.sched_getaffinity(0))} CPUs", jax=jax.__version__,
                       losses=[], pending=[], held_out=[])
    first = metrics["step"]
    if first == settings.steps:
        return True
    step, evaluate = functions(settings)
    length = settings.config.context + 1
    held_out = text.held_out_batches(16, settings.batch, length)
    key = jax.random.key(settings.seed)
    progress = Progress(settings.name, first, settings.steps)
    begin = time.monotonic() - metrics["seconds"]
    for i in range(first, settings.steps):
        tokens = text.batch(settings.seed, i, settings.batch, length)
        state, loss = step(state, tokens, key, jnp.uint32(i))
        metrics["pending"].append(float(loss))
        metrics["step"] = i + 1
        if len(metrics["pending"]) == AVERAGED:
            metrics["losses"].append(round(sum(metrics["pending"]) / AVERAGED, 5))
            metrics["pending"] = []
        if (i + 1) % EVALUATED == 0 or i + 1 == settings.steps:
            metrics["held_out"].append([i + 1, round(float(evaluate(state[0], held_out, key)), 5)])
        progress.show(i + 1, float(loss))
        ends = stop(i + 1)
        if (i + 1) % SAVED == 0 or i + 1 == settings.steps or ends:
            metrics["seconds"] = round(time.monotonic() - begin, 1)
            _save(folder, state, metrics)
        if ends:
            break
    is_done = metrics["step"] == settings.steps
    after = f"held-out loss {metrics['held_out'][-1][1]:.4f}" if metrics["held_out"] else "no evaluation yet"
    progress.end(f"{'done' if is_done else 'interrupted, can be resumed'} at step {metrics['step']}, {after}")
    return is_done
