# SPDX-License-Identifier: Apache-2.0
"""What quantization costs: the time of a step under each recipe against a step that quantizes nothing."""

import time

import jax
import jax.numpy as jnp

from .plans import MAIN, PLANS, Plan
from .run import Settings, functions, initial_state


def step_seconds(settings, text, count=20):
    """Least time of a step, [seconds of the wall, of all threads], after one that compiles."""
    step, _ = functions(settings)
    state, key = initial_state(settings), jax.random.key(0)
    least = [float("inf"), float("inf")]
    for i in range(count + 1):
        tokens = text.batch(0, i, settings.batch, settings.config.context + 1)
        begin = time.monotonic(), time.process_time()
        state, loss = step(state, tokens, key, jnp.uint32(i))
        loss.block_until_ready()
        if i > 0:
            taken = time.monotonic() - begin[0], time.process_time() - begin[1]
            least = [min(a, b) for a, b in zip(least, taken)]
    return least


def report(text):
    PLANS["nothing"] = Plan(None, ())
    plain = step_seconds(Settings("nothing"), text)
    print(f"{'':17} {'wall':>9} {'threads':>9}   over a step without quantization")
    for name in ("nothing", *MAIN):
        wall, threads = plain if name == "nothing" else step_seconds(Settings(name), text)
        print(f"{name:17} {1000 * wall:6.1f} ms {1000 * threads:6.1f} ms   x {wall / plain[0]:.2f}  x {threads / plain[1]:.2f}")
    return 0
