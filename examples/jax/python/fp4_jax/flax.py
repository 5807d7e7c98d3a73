# SPDX-License-Identifier: Apache-2.0
"""For Flax: `nn.Dense(features, dot_general_cls=fp4_jax.flax.dot_general_cls("te_nvfp4"))` is the whole change."""

import functools

from flax import linen as nn

from .linear import dot_general
from .recipes import recipe


class QuantizedDotGeneral(nn.Module):
    """lax.dot_general under a recipe. Its key is `make_rng("quantization")`, so that every layer draws for itself:
    apply the model with rngs={"quantization": jax.random.fold_in(key, step)}."""

    how: object

    @nn.compact
    def __call__(self, *args, **options):
        key = self.make_rng("quantization") if self.has_rng("quantization") else None
        return dot_general(self.how, key=key)(*args, **options)


def dot_general_cls(how="te_nvfp4"):
    """What `dot_general_cls` of a Flax layer takes. how: the name of a recipe, or an fp4_jax.Recipe."""
    return functools.partial(QuantizedDotGeneral, recipe(how) if isinstance(how, str) else how)
