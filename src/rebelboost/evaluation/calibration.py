"""Calibration: whether what is given a probability of 80 % occurs in 80 % of cases.

With two classes, this concerns the probability of one of them, from 0 to 100 %. With more, it concerns the
probability of the most probable class.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Ints, Labels
from rebelboost.evaluation.intervals import Estimate, WeightedRows

MOST_BINS = 10
N_BARS = 20
"""Number of bars of the histogram of probabilities."""
FEWEST_IN_BIN = 25
"""With fewer samples, the observed share varies by ten percentage points or more by chance."""


class Bin(NamedTuple):
    """Samples with about the same probability."""

    low: float
    """Lowest probability in the bin."""
    high: float
    """Highest probability in the bin."""
    confidence: float
    """Mean probability, which is the expected share."""
    right: Estimate
    """Observed share of the class or, with more than two classes, of correct predictions."""
    n: int


@dataclass(frozen=True)
class Calibration:
    """Expected and observed shares, in bins of about equal size."""

    bins: tuple[Bin, ...]
    error: float
    """Expected calibration error: mean absolute difference of the two shares over all samples."""
    of_class: Any = None
    """The class whose probability it is; None: that of the most probable class."""
    histogram: tuple[int, ...] = ()
    """Number of samples by probability, in intervals of equal width from 0 to 1."""

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        bins = [{**each._asdict(), "right": each.right.to_dict()} for each in self.bins]
        counts = list(self.histogram)
        return {"error": self.error, "bins": bins, "class": self.of_class, "histogram": counts}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Calibration":
        """Create from a dictionary; the inverse of `to_dict`."""
        bins = [
            Bin(**{**each, "right": Estimate.from_dict(each["right"])}) for each in stored["bins"]
        ]
        return cls(tuple(bins), stored["error"], stored["class"], tuple(stored["histogram"]))


def calibration(
    posterior: Floats,
    true: Labels,
    sampling: WeightedRows | None = None,
    of_class: tuple[int, Any] | None = None,
) -> Calibration | None:
    """Compare the probability of a class with how often it is the true class.

    `of_class` are the code and the name of the class; None stands for the most probable one.

    Bins have about the same number of samples, and equal probabilities share a bin. Bins of equal
    width would be uneven: a good model is nearly certain of most samples.
    """
    if posterior.shape[1] == 1:
        return None
    if of_class is None:
        confidence, code = posterior.max(axis=1), posterior.argmax(axis=1)
    else:
        confidence, code = posterior[:, of_class[0]], np.full(len(true), of_class[0])
    right = (code == true).astype(np.float64)
    sampling = WeightedRows(np.ones(len(true))) if sampling is None else sampling
    order = np.argsort(confidence, kind="stable")
    parts = [order[begin:end] for begin, end in zip(*_edges(confidence[order]), strict=True)]
    bins = [_bin(confidence[part], right[part], sampling.of(part)) for part in parts]
    masses = [float(sampling.weight[part].sum()) for part in parts]
    gaps = [abs(each.confidence - each.right.value) for each in bins]
    counts, _ = np.histogram(confidence, N_BARS, (0.0, 1.0))
    return Calibration(
        tuple(bins),
        float(np.average(gaps, weights=masses)),
        None if of_class is None else of_class[1],
        tuple(counts.tolist()),
    )


def _edges(ascending: BySample) -> tuple[Ints, Ints]:
    n = len(ascending)
    n_bins = max(1, min(MOST_BINS, n // FEWEST_IN_BIN))
    wanted = np.linspace(0, n, n_bins + 1).astype(np.int64)[:-1]
    # Move each edge to the first sample with the same probability, to keep equal ones together.
    begins = np.unique(np.searchsorted(ascending, ascending[wanted]))
    return begins, np.append(begins[1:], n)


def _bin(confidence: BySample, right: BySample, sampling: WeightedRows) -> Bin:
    return Bin(
        float(confidence[0]),
        float(confidence[-1]),
        float(np.average(confidence, weights=sampling.weight)),
        sampling.share(right),
        len(right),
    )
