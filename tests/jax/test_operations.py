# SPDX-License-Identifier: Apache-2.0
"""The operations are the C++ reference, byte for byte, and behave as JAX functions do."""

import itertools

import fp4_jax
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from conftest import normal
from fp4_jax import Operand

KEY = jax.random.key(20260)
NVFP4 = [
    Operand("nvfp4", is_stochastic, is_2d, *transform)
    for is_stochastic, is_2d, transform in itertools.product(
        (False, True), (False, True), ((0, False), (16, True), (16, False))
    )
]
PLAIN = [Operand(number) for number in ("mxfp8_e4m3", "mxfp8_e5m2", "fp8_e4m3", "fp8_e5m2")]


def same(got, wanted):
    codes, scales, amax, decoded = wanted
    np.testing.assert_array_equal(np.asarray(got.codes), codes)
    np.testing.assert_array_equal(np.asarray(got.scales), scales)
    assert np.asarray(got.amax).tobytes() == amax.tobytes()
    np.testing.assert_array_equal(np.asarray(fp4_jax.dequantize(got)).view(np.uint32), decoded.view(np.uint32))


@pytest.mark.parametrize("axis", (-1, -2))
@pytest.mark.parametrize("how", NVFP4 + PLAIN, ids=str)
def test_bytes_are_the_references(reference, how, axis):
    for dtype in (np.float32, ml_dtypes.bfloat16, np.float16):
        x = normal(1, 48, 64).astype(dtype)
        got = fp4_jax.quantize(jnp.asarray(x), how, axis=axis, key=KEY, call=(7 << 32) + 5, matrix="gradient")
        same(got, reference.quantize(x, how, axis, KEY, (7 << 32) + 5, 2))


@pytest.mark.parametrize("shape", ((5, 7), (1, 33), (40, 3), (17, 100)))
def test_ragged_shapes(reference, shape):
    x = normal(2, *shape)
    for how, axis in itertools.product((Operand(), Operand(is_2d=True), Operand("mxfp8_e4m3")), (-1, -2)):
        same(fp4_jax.quantize(jnp.asarray(x), how, axis=axis), reference.quantize(x, how, axis))


def test_leading_axes_are_rows(reference):
    x = normal(3, 2, 3, 16, 32)
    same(fp4_jax.quantize(jnp.asarray(x)), reference.quantize(x.reshape(-1, 32), Operand()))


def test_jit_and_traced_call(reference):
    x, how = normal(4, 32, 48), Operand().stochastic()
    run = jax.jit(lambda x, call: fp4_jax.quantize(x, how, key=KEY, call=call))
    for call in (0, 3, 2**32 - 1):
        same(run(x, jnp.uint32(call)), reference.quantize(x, how, key=KEY, call=call))


def test_vmap_is_a_loop(reference):
    x, how = normal(5, 3, 2, 32, 48), Operand().stochastic().transformed(16)
    keys = jax.random.split(KEY, 3)
    one = lambda x, key: fp4_jax.quantize(x, how, axis=-2, key=key)
    got = jax.vmap(jax.vmap(one, (0, None)))(jnp.asarray(x), keys)
    assert got.codes.shape == (3, 2, 48, 16)
    decoded = jax.vmap(jax.vmap(fp4_jax.dequantize))(got)
    for i, j in itertools.product(range(3), range(2)):
        codes, scales, amax, values = reference.quantize(x[i, j], how, -2, keys[i])
        np.testing.assert_array_equal(np.asarray(got.codes)[i, j], codes)
        np.testing.assert_array_equal(np.asarray(got.scales)[i, j], scales)
        np.testing.assert_array_equal(np.asarray(decoded)[i, j], values)
        assert got.amax[i, j] == amax


def test_scan(reference):
    x, how = normal(6, 16, 32), Operand().stochastic()

    def step(sum, call):
        q = fp4_jax.quantize(x, how, key=KEY, call=call)
        return sum + fp4_jax.dequantize(q), q.codes

    total, codes = jax.lax.scan(step, jnp.zeros_like(x), jnp.arange(4, dtype=jnp.uint32))
    wanted = [reference.quantize(x, how, key=KEY, call=call) for call in range(4)]
    np.testing.assert_array_equal(codes, [w[0] for w in wanted])
    np.testing.assert_allclose(total, sum(w[3] for w in wanted), rtol=1e-6)


def test_amax_ignores_nan_and_is_of_what_is_quantized():
    x = normal(7, 32, 32)
    assert fp4_jax.amax(x) == np.abs(x).max()
    x[3, 4] = np.nan
    assert fp4_jax.amax(x) == np.nanmax(np.abs(x))
    ones = np.ones((32, 32), np.float32)
    rows = fp4_jax.hadamard(ones, to_bfloat16=True)
    assert fp4_jax.amax(ones, Operand().transformed(16)) == np.abs(rows).max() != 1


@pytest.mark.parametrize("size", (16, 32, 64, 128, 256))
def test_hadamard_is_orthogonal(size):
    x = normal(8, 6, 256)
    y = fp4_jax.hadamard(x, size)
    np.testing.assert_allclose(np.linalg.norm(y), np.linalg.norm(x), rtol=1e-6)
    np.testing.assert_allclose(fp4_jax.inverse_hadamard(y, size), x, rtol=1e-5, atol=1e-5 * np.abs(x).max())
    signs = np.array([1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1], np.float32)
    matrix = np.array([[1.0]])
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    wanted = (x.reshape(-1, size) * np.tile(signs, size // 16)) @ matrix.T / np.sqrt(size)
    np.testing.assert_allclose(np.asarray(y).reshape(-1, size), wanted, rtol=2e-5, atol=1e-5 * np.abs(x).max())
    batched = jax.vmap(lambda x: fp4_jax.hadamard(x, size))(x.reshape(2, 3, 256))
    np.testing.assert_array_equal(batched.reshape(6, 256), y)


def test_bytes_are_ml_dtypes():
    """codes as float4_e2m1fn, scales as float8_e4m3fn: the definition of NVFP4's values."""
    x = normal(9, 64, 96)
    q = fp4_jax.quantize(x)
    codes = np.asarray(q.codes)
    nibbles = np.stack([codes & 0xF, codes >> 4], -1).reshape(64, 96)
    elements = nibbles.view(ml_dtypes.float4_e2m1fn).astype(np.float64)
    scales = np.asarray(q.scales).view(ml_dtypes.float8_e4m3fn).astype(np.float64)
    wanted = elements * np.repeat(scales, 16, 1) * float(q.amax) / 2688
    np.testing.assert_allclose(fp4_jax.dequantize(q), wanted, rtol=2e-7)
    eight = fp4_jax.quantize(x, Operand("fp8_e5m2"))
    elements = np.asarray(eight.codes).view(ml_dtypes.float8_e5m2).astype(np.float64)
    np.testing.assert_allclose(fp4_jax.dequantize(eight), elements * float(eight.amax) / 57344, rtol=2e-7)


def test_decoding_to_narrow_types():
    q = fp4_jax.quantize(normal(10, 16, 32))
    wide = np.asarray(fp4_jax.dequantize(q))
    for dtype in (jnp.bfloat16, jnp.float16):
        np.testing.assert_array_equal(np.asarray(fp4_jax.dequantize(q, dtype)), wide.astype(dtype))


X = jnp.zeros((16, 24), jnp.float32)


@pytest.mark.parametrize(
    "work, sentence",
    (
        (lambda: fp4_jax.quantize(X.astype(jnp.int32)), "values must be float32, bfloat16 or float16 .got int32"),
        (lambda: fp4_jax.quantize(3.0), "got float"),
        (lambda: fp4_jax.quantize(X[0]), "at least two axes, rows and columns .got rank 1"),
        (lambda: fp4_jax.amax(X, axis=0), "axis must be -1, blocks along rows, or -2, blocks along columns .got 0"),
        (lambda: fp4_jax.quantize(X, Operand().stochastic()), "stochastic rounding needs a key .got None"),
        (lambda: fp4_jax.quantize(X, Operand().stochastic(), key=jnp.zeros(3, jnp.uint32)), "shape .3,"),
        (lambda: fp4_jax.quantize(X, Operand().stochastic(), key=jnp.zeros(2, jnp.int32)), "got int32"),
        (lambda: fp4_jax.quantize(X, Operand().stochastic(), key=KEY, call=-1), "got -1"),
        (lambda: fp4_jax.quantize(X, Operand().stochastic(), key=KEY, call=jnp.zeros(2, jnp.int32)), "one integer"),
        (lambda: fp4_jax.quantize(X, Operand().transformed(16)), "must be a multiple of the Hadamard size .got 24"),
        (lambda: fp4_jax.quantize(X, Operand().transformed(32)), "its Hadamard size must be 0 or 16 .got 32"),
        (lambda: fp4_jax.quantize(X, Operand("fp8_e4m3", is_2d=True)), "must be nvfp4 where it is stochastic, 2D"),
        (lambda: fp4_jax.quantize(X, Operand("bf16")), "an operand chosen at run time must be nvfp4"),
        (lambda: fp4_jax.quantize(X, amax=jnp.zeros(2)), "amax must be one float32"),
        (lambda: fp4_jax.quantize(X, matrix="bias"), "got 'bias'"),
        (lambda: fp4_jax.dequantize(fp4_jax.quantize(X), jnp.float64), "got float64"),
        (lambda: fp4_jax.hadamard(X, 12), "a Hadamard size is 16, 32, 64, 128 or 256 .got 12"),
        (lambda: fp4_jax.hadamard(X, 16), "must be a multiple of the Hadamard size .got 24, bound 16"),
        (lambda: Operand("nvfp5"), "got 'nvfp5'"),
        (lambda: fp4_jax.recipe("nvfp5"), "a recipe is one of .* .got 'nvfp5'"),
    ),
)
def test_misuse_is_a_sentence(work, sentence):
    with pytest.raises(ValueError, match=sentence):
        work()
    with pytest.raises(ValueError, match=sentence):
        jax.jit(work)()


def test_what_only_the_data_shows_is_an_error_too():
    with pytest.raises(Exception, match="a tensor scale must be a positive finite factor, or an amax that is not"):
        jax.block_until_ready(fp4_jax.quantize(X, amax=jnp.float32(-1)).codes)
