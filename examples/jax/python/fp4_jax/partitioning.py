# SPDX-License-Identifier: Apache-2.0
"""How amax, quantize and dequantize are split over devices, so that the parts give the bytes of the whole.

Under shard_map the caller names the mesh axes. Under jit with sharded arrays XLA's partitioner asks here: each device
works on its part, amaxes are reduced with pmax, and nothing is gathered. A part that would cut a block is gathered.
"""

import functools
import math

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec

from . import library


def _place(shape, names):
    """int32 [4]: first row, first column, rows and columns of the whole, of a part of `shape` inside shard_map."""
    sizes = [n * (lax.axis_size(name) if name else 1) for n, name in zip(shape, names)]
    firsts = [n * lax.axis_index(name) if name else 0 for n, name in zip(shape, names)]
    return jnp.stack([jnp.asarray(i, jnp.int32) for i in (*firsts, *sizes)])


def _names(sharding, shape, units):
    """The mesh axes that split rows and columns, None where a part would not be a multiple of its unit."""
    names = []
    for length, unit, name in zip(shape, units, (*sharding.spec, None, None)):
        axes = (name,) if isinstance(name, str) else name or ()
        count = functools.reduce(lambda n, axis: n * sharding.mesh.shape[axis], axes, 1)
        names.append(name if count > 1 and length % (count * unit) == 0 else None)
    return tuple(names)


def _units(number):
    """Parts of values begin at multiples of a block, and of the 16 rows and columns of random numbers and 2D blocks."""
    return (max(16, library.format_of(number).block_size),) * 2


def _spec(mesh, *names):
    return NamedSharding(mesh, PartitionSpec(*names))


def _rule(number, shape, blocked, mesh, codes_first):
    """Shardy's rule: blocks of the blocked axis go with their bytes of codes and their scale.

    shape, blocked  of the values, and their axis that has the blocks; codes_first: whether codes are the operands.
    That axis stays whole where its last block is not full, or where some mesh axis would cut a block.
    """
    facts = library.format_of(number)
    sizes = {}
    unit = facts.block_size * functools.reduce(math.lcm, mesh.shape.values(), 1)
    if not facts.has_block_scale:
        values, codes, scales = ("r c", "r c", "r n") if blocked == 1 else ("r c", "c r", "c n")
    elif shape[blocked] % unit != 0:
        values, codes, scales = ("r k", "r p", "r n") if blocked == 1 else ("k r", "r p", "r n")
        sizes = {"need_replication_factors": ("p", "n", "k") if codes_first else ("k", "p", "n")}
    else:
        values, codes, scales = ("r (b e)", "r (b p)", "r b") if blocked == 1 else ("(b e) r", "r (b p)", "r b")
        sizes = {"e": facts.block_size, "p": facts.row_bytes(facts.block_size)}
    return (f"{codes}, {scales}, -> {values}" if codes_first else f"{values}, , w -> {codes}, {scales}"), sizes


def _with_vmap(parts, whole):
    """parts(*args), and under vmap whole(*args) as one call on a batch, which XLA does not split."""
    call = custom_vmap(parts)

    @call.def_vmap
    def batched(axis_size, in_batched, *args):
        full = [a if b else jnp.broadcast_to(a, (axis_size, *a.shape)) for a, b in zip(args, in_batched)]
        results = jax.vmap(whole)(*full)
        return results, jax.tree.map(lambda _: True, results)

    return call


def partitioned_amax(ffi):
    """amax(how, is_columnwise, x)"""

    @functools.partial(custom_partitioning, static_argnums=(0, 1))
    def parts(how, is_columnwise, x):
        return ffi(how, is_columnwise, x)

    def partition(how, is_columnwise, mesh, args, result):
        names = _names(args[0].sharding, args[0].shape, _units(how.number))
        split = tuple(name for name in names if name)

        def lower(x):
            largest = ffi(how, is_columnwise, x)
            return lax.pmax(largest, split) if split else largest

        return mesh, lower, _spec(mesh), (_spec(mesh, *names),)

    parts.def_partition(
        partition=partition,
        infer_sharding_from_operands=lambda how, is_columnwise, mesh, args, result: _spec(mesh),
        sharding_rule=lambda *_: ("r c ->", {"reduction_factors": ("r", "c")}),
    )

    def amax(how, is_columnwise, x):
        return _with_vmap(lambda x: parts(how, is_columnwise, x), lambda x: ffi(how, is_columnwise, x))(x)

    return amax


def partitioned_quantize(ffi):
    """quantize(how, is_columnwise, matrix, shards, x, amax, random); shards: mesh axes inside shard_map, or None."""

    @functools.partial(custom_partitioning, static_argnums=(0, 1, 2))
    def parts(how, is_columnwise, matrix, x, amax, random):
        return ffi(how, is_columnwise, matrix, x, amax, random, jnp.zeros(4, jnp.int32))

    def results(mesh, is_columnwise, names):
        return (_spec(mesh, *(names[::-1] if is_columnwise else names)),) * 2

    def partition(how, is_columnwise, matrix, mesh, args, result):
        names = _names(args[0].sharding, args[0].shape, _units(how.number))

        def lower(x, amax, random):
            return ffi(how, is_columnwise, matrix, x, amax, random, _place(x.shape, names))

        return mesh, lower, results(mesh, is_columnwise, names), (_spec(mesh, *names), _spec(mesh), _spec(mesh, None))

    def infer(how, is_columnwise, matrix, mesh, args, result):
        names = _names(args[0].sharding, args[0].shape, _units(how.number))
        return results(mesh, is_columnwise, names)

    def rule(how, is_columnwise, matrix, mesh, values, results):
        return _rule(how.number, values[0].shape, 0 if is_columnwise else 1, mesh, False)

    parts.def_partition(partition=partition, infer_sharding_from_operands=infer, sharding_rule=rule)

    def quantize(how, is_columnwise, matrix, shards, x, amax, random):
        def whole(x, amax, random):
            place = _place(x.shape, shards) if shards else jnp.zeros(4, jnp.int32)
            return ffi(how, is_columnwise, matrix, x, amax, random, place)

        if shards:
            return whole(x, amax, random)
        return _with_vmap(functools.partial(parts, how, is_columnwise, matrix), whole)(x, amax, random)

    return quantize


def partitioned_dequantize(ffi):
    """dequantize(number, cols, dtype, codes, scales, amax)"""

    @functools.partial(custom_partitioning, static_argnums=(0, 1, 2))
    def parts(number, cols, dtype, codes, scales, amax):
        return ffi(number, cols, dtype, codes, scales, amax)

    def names_of(number, codes):
        facts = library.format_of(number)
        return _names(codes.sharding, codes.shape, (1, facts.row_bytes(facts.block_size)))

    def partition(number, cols, dtype, mesh, args, result):
        names = names_of(number, args[0])
        if cols % library.format_of(number).block_size != 0:
            names = (names[0], None)

        def lower(codes, scales, amax):
            facts = library.format_of(number)
            here = cols if names[1] is None else codes.shape[1] * 8 // facts.storage_bits
            return ffi(number, here, dtype, codes, scales, amax)

        by_block = _spec(mesh, *names) if library.format_of(number).has_block_scale else _spec(mesh, names[0])
        return mesh, lower, _spec(mesh, *names), (_spec(mesh, *names), by_block, _spec(mesh))

    def infer(number, cols, dtype, mesh, args, result):
        return _spec(mesh, *names_of(number, args[0]))

    def rule(number, cols, dtype, mesh, values, results):
        return _rule(number, (values[0].shape[0], cols), 1, mesh, True)

    parts.def_partition(partition=partition, infer_sharding_from_operands=infer, sharding_rule=rule)

    def dequantize(number, cols, dtype, codes, scales, amax):
        whole = functools.partial(ffi, number, cols, dtype)
        return _with_vmap(functools.partial(parts, number, cols, dtype), whole)(codes, scales, amax)

    return dequantize
