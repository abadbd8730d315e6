"""The 95 % confidence interval of a mean cost, which allows for expensive mistakes not yet seen.

The bound is Gaffke's [Gaffke 2005; Learned-Miller and Thomas 2020]: x₁ … x_n lie between 0 and B. Give them,
and one more value B, random weights with a uniform (Dirichlet) distribution. The quantile of the weighted sum
is an upper bound of the mean; with 0 in place of B, a lower bound. It needs no other assumption than the
greatest possible cost, and the order of the samples does not matter. If all mistakes cost the same, it is the
exact interval of their share [Clopper and Pearson 1934].
"""

import math

import numpy as np

from rebelboost.base.arrays import BySample, Floats
from rebelboost.evaluation.intervals import Estimate

LEVEL = 0.025
"""Probability of a mean above the interval, and of one below it."""
STEP = 0.1
"""Step of the numerical integral on a logarithmic scale."""
LOGARITHMS = np.arange(-18.0, 5.0, STEP)
RATIO = 0.05
"""Costs that differ by less than this share of themselves are counted together, at their mean."""
MOST_KINDS = 400


def mean_cost_interval(
    costs: BySample, weight: BySample, n_samples: float, greatest: float
) -> Estimate:
    """Estimate the mean of the costs of samples that are worth `n_samples` independent ones.

    `greatest` is the greatest cost that a decision can have, whether or not it has occurred.
    """
    value = float(np.average(costs, weights=weight))
    if greatest <= 0:
        return Estimate(0.0, 0.0, 0.0)
    x, shape = _kinds(costs / greatest, weight * (n_samples / weight.sum()))
    mean = min(value / greatest, 1.0)
    least = 0.0 if mean == 0 else 1 - _quantile(np.append(1 - x, 1.0), np.append(shape, 1.0))
    most = 1.0 if mean == 1 else _quantile(np.append(x, 1.0), np.append(shape, 1.0))
    return Estimate(value, min(greatest * least, value), max(greatest * most, value))


def _kinds(x: BySample, shape: BySample) -> tuple[BySample, BySample]:
    """Distinct values with their sums of `shape`; many values are binned, each bin at its mean."""
    values, places = np.unique(x, return_inverse=True)
    if len(values) > MOST_KINDS:
        bins = np.floor(np.log(np.maximum(values, 1e-300)) / RATIO).clip(-MOST_KINDS)
        places = np.unique(bins, return_inverse=True)[1][places]
    sums = np.bincount(places, shape).astype(np.float64)
    return np.bincount(places, shape * x) / sums, sums


def _quantile(x: BySample, shape: BySample) -> float:
    """The value that the Dirichlet(shape)-weighted mean of `x` exceeds with probability `LEVEL`."""
    from scipy.optimize import brentq  # slow to import

    total = shape.sum()
    mean = float(shape @ x / total)
    spread = math.sqrt(float(shape @ (x - mean) ** 2 / (total * (total + 1))))
    # Cantelli's inequality: the quantile is not farther from the mean.
    high = min(mean + spread * math.sqrt(1 / LEVEL - 1), 1 - 1e-12)
    if high <= mean or _exceeds(x, shape, high) >= LEVEL:
        return high
    low = mean + 1e-6 * (high - mean)  # at the mean itself, the saddle point is a pole
    return float(brentq(lambda m: _exceeds(x, shape, m) - LEVEL, low, high, xtol=1e-14, rtol=1e-9))


def _exceeds(x: BySample, shape: BySample, value: float) -> float:
    """The probability that the Dirichlet-weighted mean of `x` exceeds `value`, which is above its mean.

    It is that of ΣG_i(x_i − value) > 0 for independent gamma variables G_i. Their moment generating function
    is inverted along the line through its saddle point, where the integrand hardly oscillates; on a
    logarithmic scale the trapezoidal rule is then enough.
    """
    from scipy.optimize import brentq

    apart: Floats = x - value
    farthest = 1 / apart.max()

    def slope(at: float) -> float:
        return float(np.sum(shape * apart / (1 - at * apart)))

    saddle = brentq(slope, 0.0, (1 - 1e-12) * farthest, xtol=1e-300, rtol=1e-9)
    curve = float(np.sum(shape * (apart / (1 - saddle * apart)) ** 2))
    along = np.exp(LOGARITHMS) / math.sqrt(curve)
    at = saddle + 1j * along
    power = -np.log(1 - np.outer(at, apart)) @ shape
    return STEP / math.pi * float(np.sum((np.exp(power) / at).real * along))
