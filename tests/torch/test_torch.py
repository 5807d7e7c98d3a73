# SPDX-License-Identifier: Apache-2.0
"""The PyTorch extension gives the bytes of fp4::reference."""

import ctypes
import itertools
import os
import pathlib
import sys

import numpy as np
import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples" / "torch"))
import fp4_torch

NUMBERS = {"nvfp4": 1, "mxfp8_e4m3": 2, "mxfp8_e5m2": 3, "fp8_e4m3": 4, "fp8_e5m2": 5}
REFERENCE = ctypes.CDLL(os.environ["FP4_BINDING_REFERENCE"])


def reference(x, number, is_stochastic, is_2d, hadamard, is_columnwise, seed, call, like):
    """codes, scales, amax and values by the oracle; `like` are tensors of the right shapes."""
    x = np.ascontiguousarray(x.float().numpy())
    codes, scales, amax = (np.full_like(t.numpy(), 0xEE if t.dtype == torch.uint8 else 0) for t in like)
    values = np.zeros(x.T.shape if is_columnwise else x.shape, np.float32)
    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
    row = (ctypes.c_int32 * 5)(NUMBERS[number], is_stochastic, is_2d, hadamard, hadamard != 0)
    REFERENCE.reference_quantize(
        pointer(x), ctypes.c_int64(x.shape[0]), ctypes.c_int64(x.shape[1]), row, ctypes.c_bool(is_columnwise), 0,
        ctypes.c_uint64(seed), ctypes.c_uint64(call), pointer(codes), pointer(scales), pointer(amax), pointer(values))
    return codes, scales, amax, values


CASES = [("nvfp4", *choices) for choices in itertools.product((False, True), (False, True), (0, 16), (False, True))]
CASES += [(number, False, False, 0, c) for number in NUMBERS if number != "nvfp4" for c in (False, True)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bytes_are_the_references(case):
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        x = (torch.randn(3, 48, 64, generator=torch.Generator().manual_seed(1)) ** 3).to(dtype)
        names = ("number", "is_stochastic", "is_2d", "hadamard", "is_columnwise")
        got = fp4_torch.quantize(x, **dict(zip(names, case)), seed=(5 << 40) + 3, call=7)
        decoded = fp4_torch.dequantize(*got, cols=48 if case[-1] else 64, number=case[0])
        for i in range(3):
            wanted = reference(x[i], *case, (5 << 40) + 3, 7, [t[i] for t in got])
            for a, b in zip((*got, decoded), wanted):
                np.testing.assert_array_equal(a[i].numpy(), b)


def test_strides_and_empty():
    x = torch.randn(32, 96)
    for a, b in zip(fp4_torch.quantize(x.t()), fp4_torch.quantize(x.t().contiguous())):
        assert torch.equal(a, b)
    codes, scales, amax = fp4_torch.quantize(torch.zeros(0, 32))
    assert fp4_torch.dequantize(codes, scales, amax, cols=32).shape == (0, 32)


def test_hadamard_and_back():
    x = torch.randn(2, 8, 128)
    y = fp4_torch.hadamard(x, 128)
    torch.testing.assert_close(y.norm(), x.norm())
    torch.testing.assert_close(fp4_torch.hadamard(y, 128, is_inverse=True), x)


X = torch.zeros(16, 24)


@pytest.mark.parametrize(
    "work, sentence",
    (
        (lambda: fp4_torch.quantize(X.double()), "values must be float32, bfloat16 or float16 .got Double"),
        (lambda: fp4_torch.quantize(X[0]), "must have rows and columns .got rank 1"),
        (lambda: fp4_torch.quantize(X, "nvfp5"), "got nvfp5"),
        (lambda: fp4_torch.quantize(X, hadamard=16), "must be a multiple of the Hadamard size .got 24, bound 16"),
        (lambda: fp4_torch.quantize(X, "fp8_e4m3", is_2d=True), "must be nvfp4 where it is stochastic, 2D"),
        (lambda: fp4_torch.quantize(X, is_stochastic=True, call=1 << 61), "stream must be below 2.63"),
        (lambda: fp4_torch.dequantize(*fp4_torch.quantize(X), cols=48), "must be those of quantize for 48 columns"),
        (lambda: fp4_torch.hadamard(X, 12), "a Hadamard size is 16, 32, 64, 128 or 256 .got 12"),
    ),
)
def test_misuse_is_a_sentence(work, sentence):
    with pytest.raises(ValueError, match=sentence):
        work()
