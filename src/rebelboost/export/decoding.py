"""What a decoder needs to compute probabilities from scores, as plain arrays."""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Ints
from rebelboost.costs.matrix import is_uniform
from rebelboost.costs.mixture import mixture_arrays
from rebelboost.costs.posterior import Decoder, perron_arrays


class PerronArrays(NamedTuple):
    """Of probabilities that are an eigenvector; see `costs.posterior`."""

    log_theta: ByClass
    B: Floats
    """(K, K)"""
    logs: Floats
    """(K, K)"""


class MixtureArrays(NamedTuple):
    """Of probabilities that are the weights of a mixture; see `costs.mixture`."""

    D: Floats
    """(M, K)"""
    Z: ByClass
    """(M,)"""
    matters: Ints
    """(M,) classes that the rows of D belong to."""
    inverse: Floats
    """(K, M)"""


class DecoderArrays(NamedTuple):
    """How probabilities are computed."""

    temperature: float
    loss: str
    rest: PerronArrays | MixtureArrays | None
    """None if the costs of the training were uniform."""
    shift: ByClass | None
    """(K,) how much more frequent each class is than in training; None: as in training."""


def decoder_arrays(decoder: Decoder) -> DecoderArrays:
    """The arrays of a decoder."""
    rest: PerronArrays | MixtureArrays | None = None
    if not is_uniform(decoder.costs):
        if decoder.subcosts == "rebel":
            D, Z, matters, inverse = mixture_arrays(decoder.costs)
            rest = MixtureArrays(D, Z, np.flatnonzero(matters), inverse)
        else:
            rest = PerronArrays(*perron_arrays(decoder.costs))
    shift = None if decoder.shift is None else np.array(decoder.shift)
    return DecoderArrays(float(decoder.temperature), decoder.loss, rest, shift)
