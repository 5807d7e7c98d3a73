# SPDX-License-Identifier: Apache-2.0
"""amax, quantize, dequantize and hadamard as FFI calls: jittable, vmappable, partitioned over devices."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from . import library
from .partitioning import partitioned_amax, partitioned_dequantize, partitioned_quantize
from .recipes import MATRICES, Operand

_DTYPES = ("float32", "bfloat16", "float16")


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=["codes", "scales", "amax"], meta_fields=["number", "cols"]
)
@dataclasses.dataclass(frozen=True)
class Quantized:
    """A quantized matrix [rows, cols]; of the transpose where it was quantized along axis -2.

    codes   uint8 [rows, bytes], 4-bit codes two a byte, the first in the low nibble
    scales  uint8 [rows, blocks], the codes of ue4m3 or e8m0; [rows, 0] for formats without block scales
    amax    float32 [], the largest magnitude of what was quantized
    """

    codes: jax.Array
    scales: jax.Array
    amax: jax.Array
    number: str
    cols: int

    @property
    def shape(self):
        return (self.codes.shape[-2], self.cols)


def _matrix(x, where):
    """x as [rows, cols]: leading axes flatten into rows."""
    dtype = getattr(x, "dtype", None)
    if dtype is None or str(dtype) not in _DTYPES:
        raise ValueError(f"{where}: values must be float32, bfloat16 or float16 (got {dtype or type(x).__name__})")
    if x.ndim < 2:
        raise ValueError(f"{where}: values must have at least two axes, rows and columns (got rank {x.ndim})")
    return x.reshape(-1, x.shape[-1])


def _is_columnwise(axis, where):
    if axis not in (-1, -2):
        raise ValueError(f"{where}: axis must be -1, blocks along rows, or -2, blocks along columns (got {axis})")
    return axis == -2


def key_words(key, where):
    """The two uint32 words of a threefry key, which is the seed. Raises ValueError for anything else."""
    if key is None:
        raise ValueError(f"{where}: stochastic rounding needs a key (got None)")
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    if key.shape != (2,) or key.dtype != jnp.uint32:
        raise ValueError(
            f"{where}: a key must be one threefry key, two uint32 words (got {key.dtype} of shape {key.shape})"
        )
    return key


def _draw(key, call, is_stochastic, where):
    """uint32 [4]: seed low, seed high, call low, call high."""
    if not is_stochastic:
        return jnp.zeros(4, jnp.uint32)
    key = key_words(key, where)
    if isinstance(call, int):
        if not 0 <= call < 1 << 61:
            raise ValueError(f"{where}: call must be from 0 to 2^61 - 1 (got {call})")
        words = jnp.array([call & 0xFFFFFFFF, call >> 32], jnp.uint32)
    else:
        if call.shape != () or not jnp.issubdtype(call.dtype, jnp.integer):
            raise ValueError(f"{where}: call must be one integer (got {call.dtype} of shape {call.shape})")
        words = jnp.stack([call.astype(jnp.uint32), jnp.zeros((), jnp.uint32)])
    return jnp.concatenate([key, words])


def _attributes(how, is_columnwise, matrix):
    number, is_stochastic, is_2d, size, to_bfloat16 = how.row()
    return dict(
        format=np.int64(number),
        is_stochastic=np.bool_(is_stochastic),
        is_2d=np.bool_(is_2d),
        hadamard=np.int64(size),
        to_bfloat16=np.bool_(to_bfloat16),
        is_columnwise=np.bool_(is_columnwise),
        matrix=np.int64(matrix),
    )


def _amax_ffi(how, is_columnwise, x):
    result = jax.ShapeDtypeStruct(x.shape[:-2], jnp.float32)
    call = jax.ffi.ffi_call("fp4_jax_amax", result, vmap_method="broadcast_all")
    return call(x, **_attributes(how, is_columnwise, 0))


def _quantize_ffi(how, is_columnwise, matrix, x, amax, random, place):
    rows, cols = x.shape[-2:] if not is_columnwise else x.shape[:-3:-1]
    facts = library.format_of(how.number)
    results = [
        jax.ShapeDtypeStruct((*x.shape[:-2], rows, facts.row_bytes(cols)), jnp.uint8),
        jax.ShapeDtypeStruct((*x.shape[:-2], rows, facts.scale_bytes(cols)), jnp.uint8),
    ]
    call = jax.ffi.ffi_call("fp4_jax_quantize", results, vmap_method="broadcast_all")
    return tuple(call(x, amax, random, place, **_attributes(how, is_columnwise, matrix)))


def _dequantize_ffi(number, cols, dtype, codes, scales, amax):
    result = jax.ShapeDtypeStruct((*codes.shape[:-1], cols), dtype)
    call = jax.ffi.ffi_call("fp4_jax_dequantize", result, vmap_method="broadcast_all")
    return call(codes, scales, amax, format=np.int64(library.NUMBERS.index(number)))


_amax = partitioned_amax(_amax_ffi)
_quantize = partitioned_quantize(_quantize_ffi)
_dequantize = partitioned_dequantize(_dequantize_ffi)


def amax(x, how=Operand(), *, axis=-1, shards=None):
    """The largest magnitude of `x` as `how` quantizes it along `axis`: float32 []. NaN is ignored.

    shards  inside shard_map: the mesh axes (or None) over which rows and columns of `x` are split; the result is then
            that of the whole matrix.
    """
    where = "fp4_jax.amax"
    is_columnwise = _is_columnwise(axis, where)
    x = _matrix(x, where)
    library.check(how.row(), is_columnwise, *x.shape)
    if not library.format_of(how.number).has_tensor_scale:
        return jnp.zeros((), jnp.float32)
    largest = _amax(how, is_columnwise, x)
    names = tuple(name for name in shards or () if name is not None)
    return lax.pmax(largest, names) if names else largest


def quantize(x, how=Operand(), *, axis=-1, key=None, call=0, matrix="activation", amax=None, shards=None):
    """Quantizes [..., cols] values, leading axes flattened into rows, to a Quantized.

    how     what the operand is made of: fp4_jax.Operand, or one of a recipe's
    axis    -1: blocks along rows; -2: along columns, and the result is that of the transpose
    key     a threefry key, for stochastic rounding; call: an integer, a step for instance. The same key, call, matrix
            and axis give the same bytes
    matrix  "activation", "weight" or "gradient": they draw independently
    amax    float32 [], where the tensor scale comes from; that of `x` if None
    shards  as in fp4_jax.amax; a shard gives the bytes of the whole matrix

    Raises ValueError with the library's sentence for a wrong dtype, rank, axis, key or shape.
    """
    where = "fp4_jax.quantize"
    is_columnwise = _is_columnwise(axis, where)
    x = _matrix(x, where)
    library.check(how.row(), is_columnwise, *x.shape)
    random = _draw(key, call, how.is_stochastic, where)
    if matrix not in MATRICES:
        raise ValueError(f"{where}: matrix must be one of {MATRICES} (got {matrix!r})")
    if amax is None:
        amax = globals()["amax"](x, how, axis=axis, shards=shards)
    else:
        amax = jnp.asarray(amax)
        if amax.shape != () or amax.dtype != jnp.float32:
            raise ValueError(f"{where}: amax must be one float32 (got {amax.dtype} of shape {amax.shape})")
    codes, scales = _quantize(how, is_columnwise, MATRICES.index(matrix), shards, x, amax, random)
    return Quantized(codes, scales, amax, how.number, x.shape[0] if is_columnwise else x.shape[1])


def dequantize(q, dtype=jnp.float32):
    """The values of a Quantized, [rows, cols]. What was transformed comes back transformed."""
    if str(np.dtype(dtype)) not in _DTYPES:
        raise ValueError(f"fp4_jax.dequantize: values must be float32, bfloat16 or float16 (got {np.dtype(dtype)})")
    return _dequantize(q.number, q.cols, np.dtype(dtype), q.codes, q.scales, q.amax)


def _hadamard(x, size, to_bfloat16, is_inverse, where):
    matrix = _matrix(x, where)
    if size not in (16, 32, 64, 128, 256):
        raise ValueError(f"{where}: a Hadamard size is 16, 32, 64, 128 or 256 (got {size})")
    if x.shape[-1] % size != 0:
        raise ValueError(
            f"{where}: the length of the transformed axis must be a multiple of the Hadamard size (got {x.shape[-1]}, "
            f"bound {size})"
        )
    result = jax.ShapeDtypeStruct(matrix.shape, jnp.float32)
    call = jax.ffi.ffi_call("fp4_jax_hadamard", result, vmap_method="broadcast_all")
    values = call(matrix, size=np.int64(size), to_bfloat16=np.bool_(to_bfloat16), is_inverse=np.bool_(is_inverse))
    return values.reshape(x.shape)


def hadamard(x, size=16, *, to_bfloat16=False):
    """Random Hadamard transform along the last axis in groups of `size`, with Transformer Engine's signs: float32."""
    return _hadamard(x, size, to_bfloat16, False, "fp4_jax.hadamard")


def inverse_hadamard(x, size=16):
    """The way back from hadamard, exact up to float32 rounding."""
    return _hadamard(x, size, False, True, "fp4_jax.inverse_hadamard")
