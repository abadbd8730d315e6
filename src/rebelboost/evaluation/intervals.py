"""95 % confidence intervals of shares and mean costs.

Both are score intervals [Wilson 1927], which have a positive width even if the estimate is 0 or 1.
"""

import math
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Ints

Z = 1.959963984540054
"""Quantile of the standard normal distribution for 95 % intervals."""


class Estimate(NamedTuple):
    """An estimate with its 95 % confidence interval."""

    value: float
    """The estimate; NaN without samples."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""

    def to_dict(self) -> dict[str, float | None]:
        """Convert to a dictionary that can be written as JSON; NaN becomes None."""
        value = None if math.isnan(self.value) else self.value
        return {"value": value, "low": self.low, "high": self.high}

    @classmethod
    def from_dict(cls, stored: dict[str, float | None]) -> "Estimate":
        """Create from a dictionary; the inverse of `to_dict`."""
        return cls(*(math.nan if x is None else float(x) for x in map(stored.get, cls._fields)))


def share(right: float, of: float, n_samples: float) -> Estimate:
    """Estimate the share `right` / `of`, where both are weights, from `n_samples` samples."""
    if of <= 0 or n_samples <= 0:
        return Estimate(math.nan, 0.0, 1.0)
    p = min(max(right / of, 0.0), 1.0)
    spread = Z * Z / n_samples
    centre = p + spread / 2
    half = math.sqrt(spread * (p * (1 - p) + spread / 4))
    low, high = (centre - half) / (1 + spread), (centre + half) / (1 + spread)
    # For shares of 0 and 1 the interval ends there exactly; rounding is removed.
    return Estimate(p, low if p > 0 else 0.0, high if p < 1 else 1.0)


def mean_cost_interval(counts: Floats, costs: Floats, n_samples: float) -> Estimate:
    """Estimate the mean of `costs`, each of which occurred `counts` times; both have the same shape.

    The mean cost x̄ is treated as a share of mistakes that cost c = Σx²/Σx each. Then x̄(c − x̄) is the
    variance of x, and Wilson's interval of x̄/c, times c, is an interval of the mean. If all mistakes
    cost the same, this is the interval of their share. One mistake of the most expensive kind is added
    to c, because rare and expensive mistakes may not have occurred yet. In simulations of 50 to 1,000
    samples with rare costs of 5 to 100, the interval contained the true mean in 91 to 97 of 100 cases;
    normal and bootstrap intervals went down to 40 of 100.
    """
    dearest = float(costs.max(initial=0.0))
    if dearest == 0:
        return Estimate(0.0, 0.0, 0.0)
    value = float((counts * costs).sum() / counts.sum())
    square = float((counts * costs**2).sum() / counts.sum())
    each = (square + dearest**2 / n_samples) / (value + dearest / n_samples)
    each = max(each, value)  # rounding may leave it below the mean
    found = share(value, each, n_samples)
    return Estimate(value, each * found.low, each * found.high)


def effective_number(weight: BySample | None, n_samples: int) -> float:
    """Effective number of samples, (Σw)²/Σw² [Kish 1965]."""
    if weight is None:
        return float(n_samples)
    return float(np.sum(weight) ** 2 / np.sum(weight**2))


def clustered_number(values: BySample, weight: BySample | None, groups: Ints | None) -> float:
    """Effective number of samples for the mean of `values`, where samples of a group go together.

    The number of samples is divided by the design effect: the variance of the mean if groups are drawn, by
    its variance if samples are. It is at least 1, and the number of groups counts if all values are equal.
    """
    n_samples = effective_number(weight, len(values))
    if groups is None:
        return n_samples
    mass = np.ones(len(values)) if weight is None else weight
    _, members = np.unique(groups, return_inverse=True)
    of_group = np.bincount(members, mass).astype(np.float64)
    n_groups = effective_number(of_group, len(of_group))
    apart = mass * (values - np.average(values, weights=mass))
    by_sample = float(np.sum(apart**2))
    if by_sample == 0 or len(of_group) < 2:
        return min(n_samples, n_groups)
    by_group = float(np.sum(np.bincount(members, apart) ** 2)) * len(of_group) / (len(of_group) - 1)
    return n_samples / max(1.0, by_group / by_sample)
