"""How many independent samples weighted or grouped samples are worth, for confidence intervals.

Intervals of independent samples are then used with this number [Korn and Graubard 1998].
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Ints
from rebelboost.evaluation.intervals import Estimate, Z, share

TRUST = 0.8
"""Quantile of the correlation within groups that is assumed, given the groups that were seen."""
MOST_MODELLED = 1000
"""With more groups than this, their observed variance is enough."""


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
