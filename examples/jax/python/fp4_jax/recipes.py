# SPDX-License-Identifier: Apache-2.0
"""Recipes: which operand of a linear layer is quantized how. The tables are those of fp4/recipe/table.hpp."""

import dataclasses
import functools

from . import library

NAMES = ("bf16", "fp8", "mxfp8", "te_nvfp4", "te_nvfp4_no_rht")


@dataclasses.dataclass(frozen=True)
class Operand:
    """How one operand is quantized: fp4::recipe::operand. The default is plain NVFP4, rounded to nearest."""

    number: str = "nvfp4"
    is_stochastic: bool = False
    is_2d: bool = False
    hadamard: int = 0
    to_bfloat16: bool = False

    def __post_init__(self):
        if self.number not in library.NUMBERS:
            raise ValueError(f"fp4_jax.Operand: number must be one of {library.NUMBERS} (got {self.number!r})")

    def row(self):
        return [library.NUMBERS.index(self.number), self.is_stochastic, self.is_2d, self.hadamard, self.to_bfloat16]

    def stochastic(self, yes=True):
        return dataclasses.replace(self, is_stochastic=yes)

    def in_2d(self, yes=True):
        return dataclasses.replace(self, is_2d=yes)

    def transformed(self, size):
        """With the Hadamard transform of `size` (0 or 16), whose results are rounded to bfloat16."""
        return dataclasses.replace(self, hadamard=size, to_bfloat16=size != 0)


@dataclasses.dataclass(frozen=True)
class Both:
    """The two operands that a matrix of the layer becomes."""

    rowwise: Operand
    columnwise: Operand

    def map(self, change):
        return Both(change(self.rowwise), change(self.columnwise))


@dataclasses.dataclass(frozen=True)
class Recipe:
    """activation X [M, K], weight W [N, K], gradient dY [M, N]. Hashable: an argument of jit may be static."""

    name: str
    activation: Both
    weight: Both
    gradient: Both

    def __post_init__(self):
        products = {
            "forward": (self.activation.rowwise, self.weight.rowwise),
            "data gradient": (self.gradient.rowwise, self.weight.columnwise),
            "weight gradient": (self.gradient.columnwise, self.activation.columnwise),
        }
        for product, (a, b) in products.items():
            if a.hadamard != b.hadamard:
                raise ValueError(
                    f"fp4_jax.Recipe: both operands of the {product} must have the same Hadamard transform, or it does "
                    f"not cancel (got {a.hadamard} and {b.hadamard})"
                )

    def replace(self, **changes):
        return dataclasses.replace(self, **changes)


MATRICES = ("activation", "weight", "gradient")


@functools.cache
def recipe(name):
    """A named recipe. Raises ValueError for another name."""

    def operand(matrix, is_columnwise):
        row = library.recipe_row(name, matrix, is_columnwise)
        if row is None:
            raise ValueError(f"fp4_jax.recipe: a recipe is one of {NAMES} (got {name!r})")
        return Operand(library.NUMBERS[row[0]], bool(row[1]), bool(row[2]), row[3], bool(row[4]))

    return Recipe(name, *(Both(operand(i, False), operand(i, True)) for i in range(3)))
