# SPDX-License-Identifier: Apache-2.0
"""The shared library: its handlers are registered with XLA, its facts are asked through ctypes."""

import ctypes
import functools
import pathlib
from typing import NamedTuple

import jax

_library = ctypes.CDLL(str(next(pathlib.Path(__file__).parent.glob("fp4_jax.*"))))
_library.fp4_jax_recipe.restype = ctypes.c_bool
_library.fp4_jax_check.restype = ctypes.c_char_p
_library.fp4_jax_check.argtypes = [ctypes.c_void_p, ctypes.c_bool, ctypes.c_int64, ctypes.c_int64]

for _name in ("amax", "quantize", "dequantize", "hadamard"):
    _handler = getattr(_library, f"fp4_jax_{_name}")
    jax.ffi.register_ffi_target(f"fp4_jax_{_name}", jax.ffi.pycapsule(_handler), platform="cpu")

# The order of fp4::recipe::number.
NUMBERS = ("bf16", "nvfp4", "mxfp8_e4m3", "mxfp8_e5m2", "fp8_e4m3", "fp8_e5m2")


class Format(NamedTuple):
    """Facts of a block format."""

    block_size: int
    storage_bits: int
    has_block_scale: bool
    has_tensor_scale: bool

    def blocks(self, columns):
        return -(-columns // self.block_size)

    def row_bytes(self, columns):
        return self.blocks(columns) * self.block_size * self.storage_bits // 8

    def scale_bytes(self, columns):
        return self.blocks(columns) if self.has_block_scale else 0


@functools.cache
def format_of(number):
    facts = (ctypes.c_int32 * 4)()
    _library.fp4_jax_format(NUMBERS.index(number), facts)
    return Format(facts[0], facts[1], bool(facts[2]), bool(facts[3]))


def recipe_row(name, matrix, is_columnwise):
    """[format, is_stochastic, is_2d, hadamard, to_bfloat16] of a named recipe; None where there is none."""
    row = (ctypes.c_int32 * 5)()
    found = _library.fp4_jax_recipe(name.encode(), matrix, ctypes.c_bool(is_columnwise), row)
    return list(row) if found else None


def check(row, is_columnwise, rows, cols):
    """Raises ValueError with the library's sentence where a precondition is broken."""
    sentence = _library.fp4_jax_check((ctypes.c_int32 * 5)(*row), is_columnwise, rows, cols)
    if sentence:
        raise ValueError(sentence.decode())
