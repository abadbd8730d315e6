"""Estimates with 95 % confidence intervals: of shares, and of mean costs.

The interval of a share is the score interval [Wilson 1927], which has a positive width even if the estimate is
0 or 1. Weighted or grouped samples are worth fewer independent ones; intervals of independent samples are then
used with this number [Korn and Graubard 1998].

The interval of a mean cost allows for expensive mistakes not yet seen. It is Gaffke's [Gaffke 2005;
Learned-Miller and Thomas 2020]: x₁ … x_n lie between 0 and B. Give them, and one more value B, random weights
with a uniform (Dirichlet) distribution. The quantile of the weighted sum is an upper bound of the mean; with 0
in place of B, a lower bound. It needs no other assumption than the greatest possible cost, and the order of the
samples does not matter. If all mistakes cost the same, it is the exact interval of their share [Clopper and
Pearson 1934].
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Ints
from rebelboost.base.estimates import Estimate, Z, share

TRUST = 0.8
"""Quantile of the correlation within groups that is assumed, given the groups that were seen."""
MOST_MODELLED = 1000
"""With more groups than this, their observed variance is enough."""
__all__ = [
    "LEVEL",
    "Estimate",
    "WeightedRows",
    "Z",
    "effective_number",
    "mean_cost_interval",
    "share",
]

LEVEL = 0.025
"""Probability of a mean above the interval, and of one below it."""
STEP = 0.1
"""Step of the numerical integral on a logarithmic scale."""
LOGARITHMS = np.arange(-18.0, 5.0, STEP)
RATIO = 0.05
"""Costs that differ by less than this share of themselves are counted together, at their mean."""
MOST_KINDS = 400


# ---- weighted and grouped samples


class WeightedRows(NamedTuple):
    """Weights and groups of samples."""

    weight: BySample
    """(N,) weights; 1 if none were given."""
    groups: Ints | None = None
    """(N,) number of each sample's group; None if samples are independent."""

    def of(self, rows: Ints | NDArray[np.bool_]) -> "WeightedRows":
        """Return the weights and groups of some of the samples."""
        return WeightedRows(self.weight[rows], None if self.groups is None else self.groups[rows])

    @property
    def n_kish(self) -> float:
        """Effective number of samples, (Σw)²/Σw² [Kish 1965]."""
        return effective_number(self.weight)

    def number(self, values: BySample) -> float:
        """Return the number of independent samples with the same variance of the weighted mean.

        Without groups, this is s²/V, where s² is the weighted variance of the values and V = Σw²(x−x̄)²/(Σw)²
        that of their mean. With groups, V is the jackknife's that leaves out one group at a time (CR3), and
        the normal quantile is replaced by Student's with one degree of freedom less than there are groups.
        Groups of unequal weight W count as (ΣW²)²/ΣW⁴ groups [Carter, Schnepel and Steigerwald 2017]. The
        result is at most `n_kish`. If all values are equal, the groups are counted instead.
        """
        total = self.weight.sum()
        apart = values - np.average(values, weights=self.weight)
        square = float(np.average(apart**2, weights=self.weight))
        if self.groups is None:
            if square == 0:
                return self.n_kish
            return min(self.n_kish, square / float(np.sum((self.weight * apart / total) ** 2)))
        members = np.unique(self.groups, return_inverse=True)[1]
        mass = np.bincount(members, self.weight).astype(np.float64)
        if square == 0 or len(mass) < 2:
            return min(self.n_kish, effective_number(mass))
        pulls = np.bincount(members, self.weight * apart) / (total - mass)
        variance = float(np.sum(pulls**2)) * (len(mass) - 1) / len(mass)
        found = square / variance if variance > 0 else self.n_kish
        return min(self.n_kish, found) * _student(mass)

    def share_number(self, hits: BySample) -> float:
        """Return `number` for the share of 0/1 values, allowing for unlike groups not yet seen.

        Few groups may look more alike than they are: if one group in 20 is decided badly, 10 groups often
        include none. Therefore the correlation within groups is also estimated by a beta-binomial model. Its
        posterior quantile at 80 % limits the result.
        """
        found = self.number(hits)
        if self.groups is None:
            return found
        members = np.unique(self.groups, return_inverse=True)[1]
        n, unit = self.n_kish, self.n_kish / self.weight.sum()
        mass = np.bincount(members, self.weight) * unit
        if not 2 <= len(mass) <= MOST_MODELLED:
            return found
        correlation = _correlation(np.bincount(members, self.weight * hits) * unit, mass)
        size = float(np.sum(mass**2) / n)
        design = 1 + max(size - 1, 0.0) * correlation
        return min(found, n / design * _student(mass))

    def share(self, hits: BySample) -> Estimate:
        """Estimate the share of 0/1 values."""
        if len(hits) == 0:
            return share(0.0, 0.0, 0.0)
        return share(float(hits @ self.weight), self.weight.sum(), self.share_number(hits))

    def around(self, value: float, pulls: BySample) -> Estimate:
        """Estimate a value whose error is about the sum of what each sample pulls it by.

        Pulls of samples that go together are added up first, as for generalised estimating equations; the
        normal quantile is then Student's, as in `number`.
        """
        students = 1.0
        if self.groups is not None:
            members = np.unique(self.groups, return_inverse=True)[1]
            pulls = np.bincount(members, pulls).astype(np.float64)
            students = _student(np.bincount(members, self.weight).astype(np.float64))
        n = len(pulls)
        if n < 2:
            return Estimate(value, -math.inf, math.inf)
        variance = float(np.sum(pulls**2)) * n / (n - 1)
        half = Z * math.sqrt(variance / students)
        return Estimate(value, value - half, value + half)


def effective_number(weight: BySample) -> float:
    """Effective number of samples, (Σw)²/Σw² [Kish 1965]."""
    return float(np.sum(weight) ** 2 / np.sum(weight**2))


def _student(mass: BySample) -> float:
    """The squared ratio of the normal to Student's quantile, for groups of these weights."""
    from scipy.special import stdtrit  # slow to import

    freedom = max(float(np.sum(mass**2) ** 2 / np.sum(mass**4)) - 1, 1.0)
    return float((Z / stdtrit(freedom, 0.975)) ** 2)


def _correlation(hits: BySample, mass: BySample) -> float:
    """The quantile `TRUST` of the posterior correlation of a beta-binomial model, on a grid.

    The prior is uniform for the correlation and Beta(½, ½) for the mean.
    """
    from scipy.special import gammaln

    mean = 1 / (1 + np.exp(-np.linspace(-8, 8, 49)))
    rho = np.concatenate([[1e-4], np.linspace(0.005, 0.1, 12), np.linspace(0.13, 0.97, 18)])
    strength = (1 - rho) / rho
    yes, no = np.outer(mean, strength), np.outer(1 - mean, strength)
    constant = gammaln(strength) - gammaln(yes) - gammaln(no)
    log_likelihood: Floats = np.zeros_like(yes)
    pairs, counts = np.unique(np.column_stack([hits, mass]), axis=0, return_counts=True)
    for (hit, of), count in zip(pairs, counts, strict=True):
        miss = max(of - hit, 0.0)  # rounding of weights may leave it below 0
        each = gammaln(yes + hit) + gammaln(no + miss) - gammaln(strength + hit + miss) + constant
        log_likelihood += count * each
    prior = np.outer(np.sqrt(mean * (1 - mean)), np.gradient(rho))
    by_rho = (np.exp(log_likelihood - log_likelihood.max()) * prior).sum(axis=0)
    return float(np.interp(TRUST, np.cumsum(by_rho) / by_rho.sum(), rho))


# ---- mean costs


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
