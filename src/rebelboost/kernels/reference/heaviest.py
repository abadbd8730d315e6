"""Samples in the order in which a pruning search visits them."""
# ruff: noqa: ARG001  (n_threads; arrays cross borders, objects do not)

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Indices, Ints


def heaviest_first(
    keys: Ints,
    samples: Indices,
    starts: NDArray[np.int32],
    shares: Floats,
    cuts: NDArray[np.int32],
    n_threads: int,
) -> None:
    """Cut each node's samples into subsets, the heaviest first, by quarters of powers of two.

    Within a subset they keep their order. `cuts` (m, shares + 2) receive where a node begins, where
    its first samples hold these shares of its keys' sum, and where it ends. A key weighs its absolute
    value; of two signs the lighter is raised so that it weighs as much as the other.
    """
    for node, (begin, end) in enumerate(pairwise(starts)):
        own = samples[begin:end]
        weights = _balanced(keys[own])
        falling = np.argsort(_buckets(weights), kind="stable")
        held = np.cumsum(np.append(0, weights[falling])).astype(np.float64)
        inner = np.searchsorted(held[:-1], shares * held[-1], side="left")
        places = [np.sort(part) for part in np.split(falling, inner)]
        own[:] = own[np.concatenate(places)]
        cuts[node] = begin + np.array([0, *inner, len(own)])


def _balanced(keys: Ints) -> Ints:
    plus, minus = int(keys[keys > 0].sum()), -int(keys[keys < 0].sum())
    weights = np.abs(keys)
    if plus > 0 and minus > 0:
        lighter = keys > 0 if plus < minus else keys <= 0
        weights[lighter] = weights[lighter] * (max(plus, minus) / min(plus, minus))
    return weights


def _buckets(keys: Ints) -> Ints:
    """Number quarters of powers of two, from the highest; keys of 0 come last."""
    mantissa, exponent = np.frexp(keys.astype(np.float64))
    quarter = 4 * exponent.astype(np.int64) + (8 * mantissa).astype(np.int64)
    return np.where(keys > 0, -quarter, 0)
