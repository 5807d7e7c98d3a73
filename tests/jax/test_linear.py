# SPDX-License-Identifier: Apache-2.0
"""The three products: made of the reference's operands, differentiable where that means something, unbiased."""

import dataclasses

import fp4_jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import normal
from fp4_jax import Operand, recipe
from fp4_jax.recipes import Both

KEY = jax.random.key(5)
M, K, N = 64, 48, 80
X, W, DY = normal(1, M, K), normal(2, K, N), normal(3, M, N)


def products(how, x=X, w=W, dy=DY, call=3, dtype=jnp.float32):
    """y, dx and dw of quantized_dot."""
    y, back = jax.vjp(lambda x, w: fp4_jax.quantized_dot(x, w, how, key=KEY, call=call),
                      jnp.asarray(x, dtype), jnp.asarray(w, dtype))
    return (y, *back(jnp.asarray(dy, dtype)))


def exact():
    x, w, dy = (a.astype(np.float64) for a in (X, W, DY))
    return x @ w, dy @ w.T, x.T @ dy


def error(got, wanted):
    return np.linalg.norm(np.asarray(got, np.float64) - wanted) / np.linalg.norm(wanted)


@pytest.mark.parametrize("name", fp4_jax.NAMES)
def test_products_are_those_of_the_reference_operands(reference, name):
    how = recipe(name)

    def decoded(x, operand, axis, matrix):
        if operand.number == "bf16":
            return jnp.asarray(x if axis == -1 else x.T).astype(jnp.bfloat16).astype(jnp.float32)
        return reference.quantize(x, operand, axis, KEY, 3, matrix)[3]

    x_row, x_column = decoded(X, how.activation.rowwise, -1, 0), decoded(X, how.activation.columnwise, -2, 0)
    w_row, w_column = decoded(W, how.weight.rowwise, -2, 1), decoded(W, how.weight.columnwise, -1, 1)
    dy_row, dy_column = decoded(DY, how.gradient.rowwise, -1, 2), decoded(DY, how.gradient.columnwise, -2, 2)
    wanted = x_row @ w_row.T, dy_row @ w_column.T, x_column @ dy_column.T
    for got, product in zip(products(how), wanted):
        assert error(got, np.asarray(product, np.float64)) < 1e-6


def test_errors_are_those_of_the_formats():
    for name, least, most in (("bf16", 5e-4, 4e-3), ("mxfp8", 0.01, 0.06), ("fp8", 0.01, 0.09), ("te_nvfp4", 0.08, 0.3)):
        for got, wanted in zip(products(name), exact()):
            assert least < error(got, wanted) < most, name


def test_gradients_are_finite_differences():
    """Codes are constant between ties, so the quantized forward has no derivative to compare with. bf16 rounds so finely
    that a difference over a wide step is one: of the loss, along a direction, in x and in w."""
    direction = normal(4, M, K), normal(5, K, N)

    def loss(t):
        return (fp4_jax.quantized_dot(X + t * direction[0], W + t * direction[1], "bf16") * DY).sum()

    step = 0.5
    difference = (loss(step) - loss(-step)) / (2 * step)  # exact for a quadratic
    np.testing.assert_allclose(jax.grad(loss)(0.0), difference, rtol=1e-2)


def test_the_backward_is_straight_through():
    """With operands on the grid, nothing is rounded and the gradients are exact ones."""
    random = np.random.default_rng(6)
    grid = np.array([0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
    x, w, dy = (random.choice(grid, shape) * random.choice([-1, 1], shape) for shape in ((M, K), (K, N), (M, N)))
    for array in (x, w, dy):
        array[::16, ::16] = 6  # the amax of each 16 x 16 block,
        for i in range(16):
            array[i::16, i::16] = 6  # and of each row and column of it
    how = recipe("te_nvfp4_no_rht")
    got = products(how, *(a.astype(np.float32) for a in (x, w, dy)))
    for product, wanted in zip(got, (x @ w, dy @ w.T, x.T @ dy)):
        np.testing.assert_allclose(product, wanted, rtol=1e-6, atol=1e-4)


def test_the_stochastic_backward_is_unbiased():
    """Over many keys the mean gradient is the gradient with the clipped, unrounded dY: errors fall as 1/sqrt(n)."""
    how = recipe("te_nvfp4")
    keys = jax.random.split(jax.random.key(7), 400)
    dy = np.clip(DY, -2, 2)

    def gradients(key, call):
        _, back = jax.vjp(lambda x, w: fp4_jax.quantized_dot(x, w, how, key=key, call=call), X, W)
        return back(dy)

    # What rounding of X and W costs is no bias of dY: it is kept in what is expected.
    w_kept = fp4_jax.dequantize(fp4_jax.quantize(W, how.weight.columnwise))
    x_kept = fp4_jax.dequantize(fp4_jax.quantize(X, how.activation.columnwise, axis=-2))

    def clipped(operand, axis, values):
        q = fp4_jax.quantize(dy, operand, axis=axis, key=KEY)
        scales = np.asarray(q.scales).view(jnp.float8_e4m3fn).astype(np.float32) * (q.amax / 2688)
        most = 6 * np.repeat(scales, 16, 1)[:, : values.shape[1]]
        return np.clip(values, -most, most)

    rotated = fp4_jax.hadamard(dy.T, to_bfloat16=True)
    dx = clipped(how.gradient.rowwise, -1, dy) @ np.asarray(w_kept).T
    dw = x_kept @ clipped(how.gradient.columnwise, -2, np.asarray(rotated)).T
    for which, wanted in enumerate((dx, dw)):
        samples = jax.jit(jax.vmap(lambda key: gradients(key, jnp.uint32(0))[which]))(keys)
        one, mean = error(samples[0], wanted), error(samples.mean(0), wanted)
        assert one > 0.05
        assert 0.8 * one / 20 < mean < 1.25 * one / 20
        nearest = dataclasses.replace(how, gradient=how.gradient.map(lambda o: o.stochastic(False)))
        assert error(products(nearest, dy=dy)[1 + which], wanted) > 2 * mean


def test_keys_and_calls_draw_anew():
    a, again, b = products("te_nvfp4", call=3), products("te_nvfp4", call=3), products("te_nvfp4", call=4)
    for x, y in zip(a, again):
        np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(a[0], b[0])  # the forward rounds to nearest
    assert (np.asarray(a[1]) != b[1]).any() and (np.asarray(a[2]) != b[2]).any()


def test_recipes_of_ones_own():
    te = recipe("te_nvfp4")
    everywhere = fp4_jax.Recipe("own", te.activation.map(lambda o: o.transformed(16)),
                                te.weight.map(lambda o: o.transformed(16)), te.gradient.map(lambda o: o.transformed(16)))
    flat = te.replace(weight=te.weight.map(lambda o: o.in_2d(False)))
    noisy = te.replace(weight=te.weight.map(Operand.stochastic), activation=te.activation.map(Operand.stochastic))
    for how in (everywhere, flat, noisy):
        for got, wanted in zip(products(how), exact()):
            assert 0.08 < error(got, wanted) < 0.35
    with pytest.raises(ValueError, match="operands of the forward must have the same Hadamard transform"):
        te.replace(weight=Both(te.weight.rowwise.transformed(16), te.weight.columnwise))


def test_types_and_shapes():
    y, dx, dw = products("te_nvfp4", dtype=jnp.bfloat16)
    assert y.dtype == dx.dtype == dw.dtype == jnp.bfloat16
    x = jnp.asarray(X.reshape(4, 16, K))
    y = fp4_jax.nvfp4_dot(x, W, KEY)
    np.testing.assert_array_equal(y.reshape(M, N), fp4_jax.nvfp4_dot(X, W, KEY))
    for work, sentence in (
        (lambda: fp4_jax.nvfp4_dot(X, W.T, KEY), r"x must be \[..., K\] and w \[K, N\]"),
        (lambda: fp4_jax.nvfp4_dot(X, W, None), "with te_nvfp4: stochastic rounding needs a key"),
        (lambda: fp4_jax.nvfp4_dot(X, W, KEY, call=-1), "got -1"),
        (lambda: fp4_jax.nvfp4_dot(X, W, KEY[None]), "a key must be one threefry key"),
        (lambda: jax.grad(lambda x: fp4_jax.nvfp4_dot(x, W, KEY).sum())(X[:40]), "multiple of the Hadamard size .got 40"),
        (lambda: fp4_jax.quantized_dot(X, W, "int4"), "a recipe is one of"),
    ):
        with pytest.raises(ValueError, match=sentence):
            work()


def test_jit_grad_vmap_scan():
    def loss(w, x, call):
        return (fp4_jax.nvfp4_dot(x, w, KEY, call=call) ** 2).sum()

    plain = [jax.grad(loss)(W, X, jnp.uint32(i)) for i in range(3)]
    jitted = jax.jit(jax.grad(loss))
    _, scanned = jax.lax.scan(lambda c, i: (c, jax.grad(loss)(W, X, i)), 0, jnp.arange(3, dtype=jnp.uint32))
    mapped = jax.vmap(jax.grad(loss), (None, None, 0))(W, X, jnp.arange(3, dtype=jnp.uint32))
    for i in range(3):
        for got in (jitted(W, X, jnp.uint32(i)), scanned[i], mapped[i]):
            assert error(got, np.asarray(plain[i], np.float64)) < 1e-6
    batched = jax.vmap(lambda w: jax.grad(loss)(w, X, jnp.uint32(0)))(jnp.stack([W, 2 * W]))
    assert error(batched[0], np.asarray(plain[0], np.float64)) < 1e-6


def test_dot_general():
    function = fp4_jax.dot_general("te_nvfp4", key=KEY)
    np.testing.assert_array_equal(function(X, W, (((1,), (0,)), ((), ()))), fp4_jax.nvfp4_dot(X, W, KEY))
    x, w = X.reshape(8, 8, 4, 12), W.reshape(4, 12, 20, 4)
    got = function(x, w, (((2, 3), (0, 1)), ((), ())), preferred_element_type=jnp.bfloat16)
    assert got.shape == (8, 8, 20, 4) and got.dtype == jnp.bfloat16
    for numbers in ((((0,), (0,)), ((), ())), (((1,), (1,)), ((), ())), (((2,), (1,)), ((0,), (0,)))):
        with pytest.raises(ValueError, match="must contract the last axes of lhs with the first of rhs"):
            function(x[0, 0] if numbers[1][0] == () else x[0], w, numbers)


def test_flax():
    nn = pytest.importorskip("flax.linen")
    from fp4_jax.flax import dot_general_cls

    class Mlp(nn.Module):
        """A model of somebody else's: the argument is what is new."""

        dot_general_cls: object = None

        @nn.compact
        def __call__(self, x):
            x = nn.silu(nn.Dense(64, dot_general_cls=self.dot_general_cls)(x))
            return nn.Dense(16, dot_general_cls=self.dot_general_cls)(x)

    variables = Mlp().init(KEY, X)
    quantized = Mlp(dot_general_cls("te_nvfp4"))

    def loss(model, variables, key):
        return (model.apply(variables, X, rngs={"quantization": key}) ** 2).sum()

    wanted = jax.grad(loss, 1)(Mlp(), variables, KEY)
    got, again, other = (jax.jit(jax.grad(loss, 1), static_argnums=0)(quantized, variables, key)
                         for key in (KEY, KEY, jax.random.key(6)))
    for layer in ("Dense_0", "Dense_1"):
        a, b, c, d = (tree["params"][layer]["kernel"] for tree in (wanted, got, again, other))
        assert 0.05 < error(b, np.asarray(a, np.float64)) < 0.6
        np.testing.assert_array_equal(b, c)
        assert (b != d).any()
    with pytest.raises(ValueError, match="needs a key"):
        quantized.apply(variables, X)
