# SPDX-License-Identifier: Apache-2.0
"""NVFP4 quantization and its training recipe for JAX: the bytes of the C++ library, as jittable functions."""

from .linear import dot_general, nvfp4_dot, quantized_dot
from .operations import Quantized, amax, dequantize, hadamard, inverse_hadamard, quantize
from .recipes import NAMES, Operand, Recipe, recipe

__all__ = [
    "NAMES",
    "Operand",
    "Quantized",
    "Recipe",
    "amax",
    "dequantize",
    "dot_general",
    "hadamard",
    "inverse_hadamard",
    "nvfp4_dot",
    "quantize",
    "quantized_dot",
    "recipe",
]
