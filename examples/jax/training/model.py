# SPDX-License-Identifier: Apache-2.0
"""A small Llama over bytes: RMSNorm, rotary positions, grouped-query attention, SwiGLU. Parameters are a dict."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import fp4_jax


@dataclasses.dataclass(frozen=True)
class Config:
    """Sizes. What a recipe quantizes is a multiple of 32: the blocks of MXFP8, of NVFP4, and the Hadamard size."""

    vocabulary: int = 256
    layers: int = 3
    width: int = 192
    heads: int = 4
    key_value_heads: int = 2
    hidden: int = 512
    context: int = 128

    @property
    def head(self):
        return self.width // self.heads


SMALL = Config(layers=2, width=64, heads=4, hidden=128, context=64)  # for tests


def shapes(config):
    """Matrices are [in, out]; every layer has its own."""
    c, kv = config, config.key_value_heads * config.head
    layer = {
        "attention_norm": (c.width,),
        "query": (c.width, c.width),
        "key": (c.width, kv),
        "value": (c.width, kv),
        "output": (c.width, c.width),
        "mlp_norm": (c.width,),
        "gate": (c.width, c.hidden),
        "up": (c.width, c.hidden),
        "down": (c.hidden, c.width),
    }
    layers = {f"layer{i}/{name}": shape for i in range(c.layers) for name, shape in layer.items()}
    return {"embedding": (c.vocabulary, c.width), **layers, "norm": (c.width,), "head": (c.width, c.vocabulary)}


def initial(config, seed):
    """Normal with variance 1/in; what adds to the residual stream is smaller by sqrt(2 layers)."""
    random = np.random.default_rng([seed, 0])
    parameters = {}
    for name, shape in shapes(config).items():
        if len(shape) == 1:
            parameters[name] = jnp.ones(shape, jnp.float32)
            continue
        size = 0.02 if name == "embedding" else shape[0] ** -0.5
        if name.endswith(("output", "down")):
            size /= np.sqrt(2 * config.layers)
        parameters[name] = jnp.asarray(size * random.standard_normal(shape), jnp.float32)
    return parameters


def count(config):
    return sum(int(np.prod(shape)) for shape in shapes(config).values())


def _norm(x, gain):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * gain


def _rotate(x):
    """Rotary positions of [batch, time, heads, head]."""
    half = x.shape[-1] // 2
    angles = np.arange(x.shape[1])[:, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = (jnp.asarray(f(angles), jnp.float32)[:, None, :] for f in (np.cos, np.sin))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)


def _attention(config, parameters, dot, x):
    c, (batch, time, _) = config, x.shape
    query = _rotate(dot("query", x).reshape(batch, time, c.heads, c.head))
    key = _rotate(dot("key", x).reshape(batch, time, c.key_value_heads, c.head))
    value = dot("value", x).reshape(batch, time, c.key_value_heads, c.head)
    group = c.heads // c.key_value_heads
    query = query.reshape(batch, time, c.key_value_heads, group, c.head)
    scores = jnp.einsum("btkgh,bskh->bkgts", query, key) * c.head**-0.5
    scores = jnp.where(np.tril(np.ones((time, time), bool)), scores, -jnp.inf)
    mixed = jnp.einsum("bkgts,bskh->btkgh", jax.nn.softmax(scores), value)
    return dot("output", mixed.reshape(batch, time, c.width))


def logits(config, plan, parameters, tokens, key, step):
    """[batch, time] bytes -> [batch, time, 256]. plan: which recipe each layer's matrix follows (training.plans)."""
    x = parameters["embedding"][tokens]
    for i in range(config.layers):

        def dot(name, x):
            how = plan.of(i, name)
            w = parameters[f"layer{i}/{name}"]
            if how is None:
                return x @ w
            place = sorted(shapes(config)).index(f"layer{i}/{name}")  # every matrix has a key of its own
            return fp4_jax.quantized_dot(x, w, how, key=jax.random.fold_in(key, place), call=step)

        x = x + _attention(config, parameters, dot, _norm(x, parameters[f"layer{i}/attention_norm"]))
        h = _norm(x, parameters[f"layer{i}/mlp_norm"])
        x = x + dot("down", jax.nn.silu(dot("gate", h)) * dot("up", h))
    return _norm(x, parameters["norm"]) @ parameters["head"]


def loss(config, plan, parameters, tokens, key, step):
    """Mean cross-entropy in nats a byte of [batch, time + 1] bytes."""
    scores = jax.nn.log_softmax(logits(config, plan, parameters, tokens[:, :-1], key, step))
    return -jnp.take_along_axis(scores, tokens[:, 1:, None].astype(jnp.int32), -1).mean()
