# SPDX-License-Identifier: Apache-2.0
"""What is trained: a recipe, and which matrices of the model follow it."""

import dataclasses

from fp4_jax import Operand, Recipe, recipe

MLP = ("gate", "up", "down")
ATTENTION = ("query", "key", "value", "output")


@dataclasses.dataclass(frozen=True)
class Plan:
    """A recipe for the named matrices of every layer; the others, embedding and head stay float32."""

    how: Recipe
    matrices: tuple = MLP

    def of(self, layer, name):
        return self.how if name in self.matrices else None


def _ablations():
    te = recipe("te_nvfp4")
    rht = lambda operand: operand.transformed(16)
    return {
        # Gradients rounded to nearest.
        "no_stochastic": Plan(te.replace(gradient=te.gradient.map(lambda o: o.stochastic(False)))),
        # Stochastic rounding where the recipe has nearest, too.
        "stochastic_everywhere": Plan(
            te.replace(activation=te.activation.map(Operand.stochastic), weight=te.weight.map(Operand.stochastic))
        ),
        # Blocks of 1 x 16 for weights: the two directions decode to different values.
        "weights_1d": Plan(te.replace(weight=te.weight.map(lambda o: o.in_2d(False)))),
        # The transform in all three products.
        "rht_everywhere": Plan(
            Recipe("rht_everywhere", te.activation.map(rht), te.weight.map(rht), te.gradient.map(rht))
        ),
        # Attention's projections as well.
        "all_layers": Plan(te, MLP + ATTENTION),
    }


MAIN = ("bf16", "fp8", "mxfp8", "te_nvfp4", "te_nvfp4_no_rht")
PLANS = {**{name: Plan(recipe(name)) for name in MAIN}, **_ablations()}
ABLATIONS = tuple(name for name in PLANS if name not in MAIN)
