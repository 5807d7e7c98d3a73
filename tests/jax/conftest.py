# SPDX-License-Identifier: Apache-2.0
"""Eight devices on the host, and fp4::reference through ctypes."""

import ctypes
import os

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
import pytest
from fp4_jax import library


class Reference:
    """The oracle: quantize(x, how, axis) -> codes, scales, amax, decoded values."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def quantize(self, x, how, axis=-1, key=None, call=0, matrix=0):
        x = np.ascontiguousarray(np.asarray(x, np.float32))
        rows, cols = x.shape if axis == -1 else x.shape[::-1]
        facts = library.format_of(how.number)
        codes = np.full((rows, facts.row_bytes(cols)), 0xEE, np.uint8)
        scales = np.full((rows, facts.scale_bytes(cols)), 0xEE, np.uint8)
        amax, decoded = np.zeros((), np.float32), np.zeros((rows, cols), np.float32)
        words = [0, 0] if key is None else [int(word) for word in jax.random.key_data(key)]
        pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
        self.library.reference_quantize(
            pointer(x), ctypes.c_int64(x.shape[0]), ctypes.c_int64(x.shape[1]),
            (ctypes.c_int32 * 5)(*how.row()), ctypes.c_bool(axis == -2), matrix,
            ctypes.c_uint64(words[0] | words[1] << 32), ctypes.c_uint64(call),
            pointer(codes), pointer(scales), pointer(amax), pointer(decoded))
        return codes, scales, amax, decoded


@pytest.fixture(scope="session")
def reference():
    return Reference(os.environ["FP4_BINDING_REFERENCE"])


def normal(seed, *shape, dtype=np.float32):
    """Heavy-tailed values, the same on every run."""
    random = np.random.default_rng(seed)
    return (random.standard_normal(shape) * np.exp(random.standard_normal(shape))).astype(dtype)
