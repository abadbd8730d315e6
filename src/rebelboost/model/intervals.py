"""Prediction intervals from the residuals of held-out samples."""

import math
from dataclasses import dataclass

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Values
from rebelboost.kernels.elementary import portable_power
from rebelboost.model.ensemble import Ensemble

COVERAGE = 0.9
"""Share of the targets that prediction intervals are to contain, by default."""
LEAST_SPREAD = 0.1
"""Lower limit of the spread at a sample, relative to the mean."""


@dataclass(frozen=True, eq=False)
class Spread:
    """The expected size of residuals as a function of the features, relative to its mean."""

    level: float
    """Mean size of the residuals."""
    ensemble: Ensemble
    """What trees add to it."""
    power: float
    """Exponent of the predicted size: 1, or less where sizes are hard to predict; 0: constant."""

    def at(self, X: Values, n_threads: int = 1) -> BySample:
        """(N,) spread at encoded samples."""
        if self.power == 0:
            return np.ones(len(X))
        return self.relative(self.ensemble.scores(X, n_threads)[:, 0])

    def relative(self, scores: BySample) -> BySample:
        """(N,) spread, from what the trees add to the level."""
        return portable_power(np.maximum(1 + scores / self.level, LEAST_SPREAD), self.power)


@dataclass(frozen=True, eq=False)
class Intervals:
    """Residuals of held-out samples, from which intervals of any coverage are made.

    A new sample's residual, in units of the spread at the sample, is as likely to be the largest of all,
    the second largest, and so on, as any held-out sample's: conformal prediction. Of M residuals, those
    between the ⌈(M + 1)·(1 − α/2)⌉-th smallest and the ⌈(M + 1)·(1 − α/2)⌉-th largest therefore cover a
    share of at least 1 − α. The + 1 is the new sample.
    """

    spread: Spread
    residuals: BySample
    """(M,) target minus prediction, divided by the spread, ascending."""
    weight: BySample
    """(M,) weights of these samples, in units of the new sample's."""

    def bounds(self, X: Values, predicted: BySample, coverage: float, n_threads: int = 1) -> Floats:
        """(N, 2) lower and upper ends for encoded samples with these predictions."""
        low, high = self.quantiles(coverage)
        return predicted[:, np.newaxis] + self.spread.at(X, n_threads)[:, np.newaxis] * [low, high]

    def quantiles(self, coverage: float) -> tuple[float, float]:
        """The ends of the interval, in units of the spread."""
        if not 0 < coverage < 1:
            raise ValueError(f"coverage is {coverage!r}: give a share between 0 and 1, such as 0.9")
        total = math.fsum(self.weight)
        needed = (1 + coverage) / 2 * (total + 1)
        if needed > total:
            most = max((total - 1) / (total + 1), 0.0)
            raise ValueError(
                f"coverage={coverage:g} needs more held-out samples than the {total:.0f} of this fit: "
                f"ask for at most {math.floor(1000 * most) / 1000:g}, or fit more samples"
            )
        return (
            -_smallest(-self.residuals[::-1], self.weight[::-1], needed),
            _smallest(self.residuals, self.weight, needed),
        )


def _smallest(ascending: BySample, weight: BySample, needed: float) -> float:
    """The smallest value such that values up to it weigh at least `needed`."""
    # Rounded sums: 0.95 × 20 must be 19, however it is computed.
    place = int(np.searchsorted(np.cumsum(weight), needed * (1 - 1e-12)))
    return float(ascending[min(place, len(ascending) - 1)])
