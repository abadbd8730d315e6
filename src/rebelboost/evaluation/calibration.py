"""Calibration: whether predictions with a probability of 80 % are correct in 80 % of cases."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Ints, Labels
from rebelboost.evaluation.intervals import Estimate, effective_number, share

MOST_BINS = 10
FEWEST_IN_BIN = 25
"""With fewer samples, the observed share varies by ten percentage points or more by chance."""


class Bin(NamedTuple):
    """Samples whose most probable class has about the same probability."""

    low: float
    """Lowest probability in the bin."""
    high: float
    """Highest probability in the bin."""
    confidence: float
    """Mean probability, which is the expected share of correct predictions."""
    right: Estimate
    """Observed share of correct predictions."""
    n: int


@dataclass(frozen=True)
class Calibration:
    """Expected and observed shares of correct predictions, in bins of about equal size."""

    bins: tuple[Bin, ...]
    error: float
    """Expected calibration error: mean absolute difference of the two shares over all samples."""

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        bins = [{**each._asdict(), "right": each.right.to_dict()} for each in self.bins]
        return {"error": self.error, "bins": bins}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Calibration":
        """Create from a dictionary; the inverse of `to_dict`."""
        bins = [
            Bin(**{**each, "right": Estimate.from_dict(each["right"])}) for each in stored["bins"]
        ]
        return cls(tuple(bins), stored["error"])


def calibration(
    posterior: Floats | None, true: Labels, weight: BySample | None = None
) -> Calibration | None:
    """Compare the probability of the most probable class with how often it is the true class.

    Bins have about the same number of samples, and equal probabilities share a bin. Bins of equal
    width would be uneven: a good model is nearly certain of most samples.
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
    # Move each edge to the first sample with the same probability, to keep equal ones together.
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
