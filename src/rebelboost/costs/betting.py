"""Upper bounds of an expected cost, from samples on which nothing was chosen.

The bound is a test by betting [Waudby-Smith and Ramdas 2024]. Suppose that the expected cost is R or more,
and bet in each round that the next sample costs less: Π(1 + ν_i (R − x_i)) is the capital, for costs x_i
between 0 and 1 and stakes ν_i chosen from the samples before. It is expected not to grow, so it ever reaches
2/δ with probability δ/2 at most. An R at which it does in at least half of many random orders of the samples is
too high: that happens with probability δ at most [Markov]. Nothing is assumed of the distribution but the
greatest cost. One order alone would give a lower bound on average, but one that depends on luck. The seed of
the orders comes from the rows themselves, so that the order of the rows does not matter. Where a cost is either
0 or the greatest, the bound is the exact one of its probability [Clopper and Pearson 1934].
"""

import math
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Ints
from rebelboost.kernels.elementary import log_of, portable_log

MOST_ORDERS = 63
"""Number of random orders, where there are few samples."""
VISITS = 500_000
"""Samples in all orders together, at most; one order is the least."""
AGREED = 0.5
"""Share of the orders in which the capital has to reach the limit."""
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
    def are_hits(self) -> bool:
        """Whether each unit is one sample, of equal weight, that costs nothing or the most."""
        whole = np.isin(self.cost, [0.0, self.weight[0]]).all()
        return bool(whole and (self.weight == self.weight[0]).all())

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
    """Stakes and outcomes, round by round, in several orders."""

    stakes: Floats
    """(orders, n) between 0 and 1."""
    cost: Floats
    """(orders, n) costs, in units of the heaviest unit's weight."""
    weight: Floats
    """(orders, n) weights, in the same units."""
    limit: float
    """Logarithm of the capital that is to be reached."""

    def refute(self, expected: float) -> bool:
        """Whether the expected cost is less than this."""
        gains = self.stakes * (expected * self.weight - self.cost)
        # A stake of 1 can lose everything.
        logs = portable_log(np.maximum(1 + gains, 1e-300)).cumsum(axis=1)
        return bool(np.mean(logs.max(axis=1) >= self.limit) >= AGREED)


def bets_on(units: Units, delta: float) -> Bets:
    """Stakes ν_t = min(1, √(2 ln(1/δ)/(n σ²_{t−1}))) with the variance σ² of the units before."""
    n, heaviest = len(units.cost), float(units.weight.max())
    limit = log_of(1 / (AGREED * delta))
    rng = np.random.default_rng(units.seed)
    n_orders = min(MOST_ORDERS, max(1, VISITS // n))
    orders = np.stack([rng.permutation(n) for _ in range(n_orders)])
    cost, weight = units.cost[orders] / heaviest, units.weight[orders] / heaviest
    mean = (0.5 + cost.cumsum(axis=1)) / (1 + weight.cumsum(axis=1))
    squares = ((cost - mean * weight) ** 2).cumsum(axis=1)
    variance = (0.25 + squares) / np.arange(2, n + 2)
    before = np.concatenate([np.full((n_orders, 1), 0.25), variance[:, :-1]], axis=1)
    stakes = np.minimum(1.0, np.sqrt(2 * limit / (n * before)))
    return Bets(stakes, cost, weight, limit)


def upper_bound(units: Units, delta: float) -> float:
    """The expected cost is at most this, in units of the greatest cost, with probability 1 − δ at least."""
    if len(units.cost) == 0:
        return 1.0
    if units.are_hits:
        return _highest_share(int(units.cost.astype(bool).sum()), len(units.cost), delta)
    bets = bets_on(units, delta)
    if not bets.refute(1.0):
        return 1.0
    low, high = min(units.mean, 1.0), 1.0
    while high - low > CLOSE:
        middle = (low + high) / 2
        if bets.refute(middle):
            high = middle
        else:
            low = middle
    return high


def _highest_share(n_hits: int, n: int, delta: float) -> float:
    """The largest probability at which so few hits are not too unlikely [Clopper and Pearson 1934]."""
    from scipy.stats import beta

    return 1.0 if n_hits == n else float(beta.ppf(1 - delta, n_hits + 1, n - n_hits))


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
