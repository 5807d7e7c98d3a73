# SPDX-License-Identifier: Apache-2.0
"""The products of a linear layer under a recipe, with their gradients."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .operations import Quantized, amax, dequantize, key_words, quantize
from .recipes import Recipe, recipe


def _product(a, b, a_axis, b_axis):
    """Contraction of axis a_axis of `a` with axis b_axis of `b`, both matrices, sums in float32."""
    return lax.dot_general(a, b, (((a_axis,), (b_axis,)), ((), ())), preferred_element_type=jnp.float32)


def _values(stored):
    """What an operand stands for: decoded, where it was quantized."""
    return dequantize(stored) if isinstance(stored, Quantized) else stored.astype(jnp.float32)


def _both(x, how, matrix, random, shards):
    """Both operands of [rows, cols], as they are kept: along rows and along columns, the second transposed."""
    if how.rowwise.number == "bf16":
        return x.astype(jnp.bfloat16), x.T.astype(jnp.bfloat16)
    largest = {}  # one pass where both directions have the same values
    kept = []
    for axis, one in ((-1, how.rowwise), (-2, how.columnwise)):
        key = (one.hadamard, one.to_bfloat16, axis if one.hadamard else None)
        if key not in largest:
            largest[key] = amax(x, one, axis=axis, shards=shards)
        kept.append(quantize(x, one, axis=axis, amax=largest[key], matrix=matrix, shards=shards, **random))
    return kept


def _is_one_matrix(how):
    """True where both directions of a weight decode to the same values: 2D blocks without a transform."""
    return how.rowwise == how.columnwise and how.rowwise.is_2d and how.rowwise.hadamard == 0


def _weight(w, how, random, shards):
    """W [N, K] row-wise and column-wise, from w [K, N] = W^T: values [N, K] and what is kept, [K, N]."""
    if how.rowwise.number != "bf16" and _is_one_matrix(how):
        kept = quantize(w, how.columnwise, axis=-1, matrix="weight", shards=shards, **random)
        return kept, kept, 0
    kept, by_row = _both(w, type(how)(how.columnwise, how.rowwise), "weight", random, shards)
    return kept, by_row, 1


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _dot(how, shards, x, w, key, call):
    return _dot_forward(how, shards, x, w, key, call)[0]


def _dot_forward(how, shards, x, w, key, call):
    random = dict(key=key, call=call)
    m, k, n = shards or (None, None, None)
    by_row, by_column = _both(x, how.activation, "activation", random, (m, k))
    kept, weight, contracted = _weight(w, how.weight, random, (k, n))
    y = _product(_values(by_row), _values(weight), 1, contracted)
    # The types are kept as empty arrays: a vjp must answer in that of each input.
    return y.astype(x.dtype), (by_column, kept, key, call, jnp.zeros((0,), x.dtype), jnp.zeros((0,), w.dtype))


def _dot_backward(how, shards, residuals, dy):
    by_column, kept, key, call, x_like, w_like = residuals
    m, _, n = shards or (None, None, None)
    gradient, transposed = _both(dy, how.gradient, "gradient", dict(key=key, call=call), (m, n))
    dx = _product(_values(gradient), _values(kept), 1, 1)  # [M, N] with [K, N]
    dw = _product(_values(by_column), _values(transposed), 1, 1)  # [K, M] with [N, M]
    return dx.astype(x_like.dtype), dw.astype(w_like.dtype), _no_gradient(key), _no_gradient(call)


def _no_gradient(x):
    return None if x is None else np.zeros(jnp.shape(x), jax.dtypes.float0)


_dot.defvjp(_dot_forward, _dot_backward)


def _is_random(how):
    return any(one.is_stochastic for both in (how.activation, how.weight, how.gradient) for one in vars(both).values())


def quantized_dot(x, w, how="te_nvfp4", *, key=None, call=0, shards=None):
    """x [..., K] @ w [K, N] with the three products of forward and backward as a recipe says: [..., N] of x's dtype.

    how     the name of a recipe, or an fp4_jax.Recipe
    key     a threefry key, where the recipe rounds stochastically; every layer needs its own
    call    an integer or an integer array, the step for instance: each draws anew
    shards  inside shard_map: the mesh axes (or None) that split M (all axes of x but the last, flattened), K and N.
            Operands are then those of the whole matrices; sums over a split axis are the caller's, as for jnp.dot

    Raises ValueError where shapes do not fit, a length is not a multiple of the Hadamard size, or the key is missing.
    """
    if not isinstance(how, Recipe):
        how = recipe(how)
    if x.ndim < 1 or w.ndim != 2 or x.shape[-1] != w.shape[0]:
        raise ValueError(f"fp4_jax.quantized_dot: x must be [..., K] and w [K, N] (got {x.shape} and {w.shape})")
    key = key_words(key, f"fp4_jax.quantized_dot with {how.name}") if _is_random(how) else None
    if isinstance(call, int):
        if not 0 <= call < 1 << 32:
            raise ValueError(f"fp4_jax.quantized_dot: call must be from 0 to 2^32 - 1 (got {call})")
        call = np.uint32(call)
    y = _dot(how, tuple(shards) if shards else None, x.reshape(-1, x.shape[-1]), w, key, jnp.asarray(call))
    return y.reshape(*x.shape[:-1], w.shape[1])



def nvfp4_dot(x, w, key, *, call=0, shards=None):
    """quantized_dot under NVIDIA's NVFP4 training recipe."""
    return quantized_dot(x, w, "te_nvfp4", key=key, call=call, shards=shards)


def dot_general(how="te_nvfp4", *, key=None, call=0):
    """A function with lax.dot_general's signature for layers that take one, `nn.Dense(..., dot_general=...)`:
    the last axes of lhs with the first of rhs, no batch axes."""

    def call_dot_general(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, **_):
        (lhs_axes, rhs_axes), batch_axes = dimension_numbers
        count = len(lhs_axes)
        is_linear = tuple(rhs_axes) == tuple(range(count)) and tuple(a % lhs.ndim for a in lhs_axes) == tuple(
            range(lhs.ndim - count, lhs.ndim)
        )
        if not is_linear or any(map(len, batch_axes)):
            raise ValueError(
                "fp4_jax.dot_general: dimension_numbers must contract the last axes of lhs with the first of rhs, in "
                f"order and without batch axes (got {dimension_numbers})"
            )
        k = int(np.prod(rhs.shape[:count]))
        x = lhs.reshape(*lhs.shape[: lhs.ndim - count], k)
        y = quantized_dot(x, rhs.reshape(k, -1), how, key=key, call=call)
        y = y.reshape(*x.shape[:-1], *rhs.shape[count:])
        return y.astype(preferred_element_type) if preferred_element_type is not None else y

    return call_dot_general
