"""Upper bounds of an expected cost, from samples on which nothing was chosen.

The bound is a test by betting [Waudby-Smith and Ramdas 2024]. Suppose that the expected cost is R or more,
and bet in each round that the next sample costs less: Π(1 + ν_i (R − x_i)) is the capital, for costs x_i
between 0 and 1 and stakes ν_i chosen from the samples before. It is expected not to grow, so it ever reaches
1/δ with probability δ at most: an R at which it does is too high. Nothing is assumed of the distribution but
the greatest cost. The samples are bet on in a random order. Its seed comes from the rows themselves, not from
their costs, so that the bound depends neither on the order of the rows nor on chance.
"""

import math
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Ints
from rebelboost.kernels.elementary import exp_of, portable_log

CLOSE = 1e-6
"""Precision of a bound, as a share of the greatest cost."""
FURTHEST = 1000
"""A bound that needs more than this multiple of the samples is out of reach."""


class Units(NamedTuple):
    """Independent units: samples, or groups of samples that go together."""

    cost: BySample
    """(n,) total cost of each unit's samples, weighted, in units of the greatest cost."""
    weight: BySample
    """(n,) total weight of each unit's samples."""
    seed: int = 0
    """Of the order in which they are bet on; other rows should give another one."""

    @property
    def mean(self) -> float:
        """Mean cost of a sample."""
        return math.fsum(self.cost) / math.fsum(self.weight)

    def repeated(self, times: float) -> "Units":
        """As many times the units, alike; used to say how many would be needed."""
        n = max(1, round(times * len(self.cost)))
        at = np.arange(n) % len(self.cost)
        return Units(self.cost[at], self.weight[at], self.seed)


def units_of(
    cost: BySample, weight: BySample, groups: Ints | None, greatest: float, seed: int = 0
) -> Units:
    """Sum the costs and the weights of each group, in the order of neither samples nor groups."""
    cost = cost * weight / greatest
    if groups is not None:
        members = np.unique(groups, return_inverse=True)[1]
        cost = np.bincount(members, cost).astype(np.float64)
        weight = np.bincount(members, weight).astype(np.float64)
    taken = weight > 0
    order = np.lexsort((weight[taken], cost[taken]))
    return Units(cost[taken][order], weight[taken][order], seed)


class Bets(NamedTuple):
    """Stakes and outcomes, round by round."""

    stakes: BySample
    """(n,) between 0 and 1."""
    cost: BySample
    """(n,) costs, in units of the heaviest unit's weight."""
    weight: BySample
    """(n,) weights, in the same units."""

    def capital(self, expected: float) -> float:
        """The largest capital ever, if the expected cost is supposed to be this or more."""
        gains = self.stakes * (expected * self.weight - self.cost)
        # A stake of 1 can lose everything.
        logs = portable_log(np.maximum(1 + gains, 1e-300)).cumsum()
        return exp_of(min(float(logs.max()), 700.0))


def bets_on(units: Units, delta: float) -> Bets:
    """Stakes ν_t = min(1, √(2 ln(1/δ)/(n σ²_{t−1}))) with the variance σ² of the units before."""
    n, heaviest = len(units.cost), float(units.weight.max())
    order = np.random.default_rng(units.seed).permutation(n)
    cost, weight = units.cost[order] / heaviest, units.weight[order] / heaviest
    mean = (0.5 + cost.cumsum()) / (1 + weight.cumsum())
    variance = (0.25 + ((cost - mean * weight) ** 2).cumsum()) / np.arange(2, n + 2)
    before = np.append(0.25, variance[:-1])
    stakes = np.minimum(1.0, np.sqrt(2 * math.log(1 / delta) / (n * before)))
    return Bets(stakes, cost, weight)


def upper_bound(units: Units, delta: float) -> float:
    """The expected cost is at most this, in units of the greatest cost, with probability 1 − δ at least."""
    if len(units.cost) == 0:
        return 1.0
    bets = bets_on(units, delta)
    if bets.capital(1.0) < 1 / delta:
        return 1.0
    low, high = min(units.mean, 1.0), 1.0
    while high - low > CLOSE:
        middle = (low + high) / 2
        if bets.capital(middle) < 1 / delta:
            low = middle
        else:
            high = middle
    return high


def p_value(units: Units, limit: float, delta: float) -> float:
    """Of the hypothesis that the expected cost is `limit` or more; stakes are those for tests at δ."""
    if len(units.cost) == 0:
        return 1.0
    return min(1.0, 1 / max(bets_on(units, delta).capital(limit), 1e-300))


def units_needed(units: Units, limit: float, delta: float) -> int | None:
    """How many such units would bring the bound to `limit`; None if it is out of reach."""
    if units.mean >= limit:
        return None
    times, last = 1.0, 1.0
    while upper_bound(units.repeated(times), delta) > limit:
        last, times = times, 2 * times
        if times > FURTHEST:
            return None
    while times / last > 1.02:
        middle = math.sqrt(last * times)
        if upper_bound(units.repeated(middle), delta) > limit:
            last = middle
        else:
            times = middle
    return math.ceil(times * len(units.cost))
