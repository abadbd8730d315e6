"""Estimates with 95 % confidence intervals, and those of shares.

The interval of a share is the score interval [Wilson 1927], which has a positive width even if the estimate is
0 or 1.
"""

import math
from typing import NamedTuple

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


def share(right: float, of: float, n_samples: float, z: float = Z) -> Estimate:
    """Estimate the share `right` / `of`, where both are weights, from `n_samples` samples.

    `z` is the normal quantile of the interval's confidence.
    """
    if of <= 0 or n_samples <= 0:
        return Estimate(math.nan, 0.0, 1.0)
    p = min(max(right / of, 0.0), 1.0)
    spread = z * z / n_samples
    centre = p + spread / 2
    half = math.sqrt(spread * (p * (1 - p) + spread / 4))
    low, high = (centre - half) / (1 + spread), (centre + half) / (1 + spread)
    # For shares of 0 and 1 the interval ends there exactly; rounding is removed.
    return Estimate(p, low if p > 0 else 0.0, high if p < 1 else 1.0)
