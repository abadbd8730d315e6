"""How far a share or a mean cost may be from the truth, by the number of samples it comes from.

Both are the score interval [Wilson 1927]: where an estimate is 0 or 1, it does not pretend to be sure.
"""

import math
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Floats

Z = 1.959963984540054
"""Of the normal distribution, for 95 %."""


class Estimate(NamedTuple):
    """A value, and where the truth lies with a confidence of 95 %."""

    value: float
    """NaN where there is no sample to tell."""
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """Ready for JSON, which has no NaN."""
        value = None if math.isnan(self.value) else self.value
        return {"value": value, "low": self.low, "high": self.high}

    @classmethod
    def from_dict(cls, stored: dict[str, float | None]) -> "Estimate":
        """Undo `to_dict`."""
        return cls(*(math.nan if x is None else float(x) for x in map(stored.get, cls._fields)))


def share(right: float, of: float, n_samples: float) -> Estimate:
    """The share of what is `right`, from so many samples that weigh `of` together."""
    if of <= 0 or n_samples <= 0:
        return Estimate(math.nan, 0.0, 1.0)
    p = min(max(right / of, 0.0), 1.0)
    spread = Z * Z / n_samples
    centre = p + spread / 2
    half = math.sqrt(spread * (p * (1 - p) + spread / 4))
    low, high = (centre - half) / (1 + spread), (centre + half) / (1 + spread)
    # At 0 and 1 the formula ends there, but for rounding.
    return Estimate(p, low if p > 0 else 0.0, high if p < 1 else 1.0)


def mean_cost_interval(counts: Floats, costs: Floats, n_samples: float) -> Estimate:
    """The mean of `costs` that occurred so many times, both of any one shape.

    A mean cost x̄ is a share of mistakes that cost c = Σx²/Σx each: then x̄(c − x̄) is the variance of x,
    and Wilson's interval of x̄/c is that of the mean; where all mistakes cost the same it is the
    share's. To c one mistake of the dearest kind is added, because what is rare and dear may not have
    been seen yet. In simulations of 50 to 1,000 samples with rare costs of 5 to 100, the interval held
    the truth in 91 to 97 of 100 cases; normal and bootstrap intervals fell to 40 of 100.
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
    """As many samples of equal weight say the same: (Σw)²/Σw² [Kish 1965]."""
    if weight is None:
        return float(n_samples)
    return float(np.sum(weight) ** 2 / np.sum(weight**2))
