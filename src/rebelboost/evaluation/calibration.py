"""Whether probabilities keep what they promise: 80 % right where 80 % sure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Ints, Labels
from rebelboost.evaluation.intervals import Estimate, effective_number, share

MOST_BINS = 10
FEWEST_IN_BIN = 25
"""With fewer, chance alone moves the share of right ones by ten percent and more."""


class Bin(NamedTuple):
    """Samples whose likeliest class has about the same probability."""

    low: float
    high: float
    """Of the probability."""
    confidence: float
    """Its mean: the share of right ones that was promised."""
    right: Estimate
    """The share in which the likeliest class was the true one."""
    n: int


@dataclass(frozen=True)
class Calibration:
    """Promised beside kept, by bins with about as many samples each."""

    bins: tuple[Bin, ...]
    error: float
    """Expected calibration error: mean distance of the two, weighted by the samples of the bins."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        bins = [{**each._asdict(), "right": each.right.to_dict()} for each in self.bins]
        return {"error": self.error, "bins": bins}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Calibration":
        """Undo `to_dict`."""
        bins = [
            Bin(**{**each, "right": Estimate.from_dict(each["right"])}) for each in stored["bins"]
        ]
        return cls(tuple(bins), stored["error"])


def calibration(
    posterior: Floats | None, true: Labels, weight: BySample | None = None
) -> Calibration | None:
    """Compare the probability of the likeliest class with how often it is the true one.

    Most decisions of a good model are nearly sure: bins of equal width would leave nearly all of
    them in one. These have about the same number of samples; equal probabilities stay together.
    """
    if posterior is None or posterior.shape[1] == 1:
        return None
    confidence = posterior.max(axis=1)
    right = (posterior.argmax(axis=1) == true).astype(np.float64)
    mass = np.ones(len(true)) if weight is None else weight
    order = np.argsort(confidence, kind="stable")
    parts = [order[begin:end] for begin, end in zip(*_edges(confidence[order]), strict=True)]
    bins = [_bin(confidence[part], right[part], mass[part]) for part in parts]
    masses = [float(mass[part].sum()) for part in parts]
    gaps = [abs(each.confidence - each.right.value) for each in bins]
    return Calibration(tuple(bins), float(np.average(gaps, weights=masses)))


def _edges(ascending: BySample) -> tuple[Ints, Ints]:
    n = len(ascending)
    n_bins = max(1, min(MOST_BINS, n // FEWEST_IN_BIN))
    wanted = np.linspace(0, n, n_bins + 1).astype(np.int64)[:-1]
    # To where its probability begins, so that equal ones are not parted.
    begins = np.unique(np.searchsorted(ascending, ascending[wanted]))
    return begins, np.append(begins[1:], n)


def _bin(confidence: BySample, right: BySample, mass: BySample) -> Bin:
    n_effective = effective_number(mass, len(mass))
    return Bin(
        float(confidence[0]),
        float(confidence[-1]),
        float(np.average(confidence, weights=mass)),
        share(float(right @ mass), float(mass.sum()), n_effective),
        len(mass),
    )
