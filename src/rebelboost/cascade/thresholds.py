"""Thresholds of a soft cascade, from the partial scores of calibration samples [THESIS 2.2].

At each of B checks, a sample leaves if its value is above `high` or below `low`. A value is a partial score
h = H₂ − H₁, or the lead of the best decision over the second best. The papers give no algorithm for the
thresholds. Here samples that leave with another decision than the full model's are counted against a
budget, which grows from check to check.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints

Flags = NDArray[np.bool_]

ROUNDING = 1e-9
"""Added before rounding down: (1 − 0.9) · 10 is 1."""
WIDEST_UNIT = 0.5
"""Largest unit of margins, in standard deviations of all values at a check."""
FEWEST_ALIVE = 10
"""With fewer calibration samples left at a check, they say too little: none leaves from there on."""


class Exits(NamedTuple):
    """Thresholds, and what becomes of the calibration samples."""

    low: Floats
    """(B,) samples below leave; −inf: none."""
    high: Floats
    """(B,) samples above leave; inf: none."""
    stage: Ints
    """(N,) check at which each sample leaves; B if it does not."""
    wrong: Flags
    """(N,) samples that leave with another decision than the full model's."""


def choose_thresholds(
    values: Floats,
    right_above: Flags,
    right_below: Flags | None = None,
    *,
    agreement: float,
    spending: Floats | None = None,
    floor: float = -math.inf,
    margin: float = 0.0,
) -> Exits:
    """Choose thresholds such that at most 1 − agreement of the calibration samples leave wrongly.

    Parameters
    ----------
    values : array of shape (B, N)
        Value of each calibration sample at each check.
    right_above : Boolean array of shape (B, N) or (N,)
        Whether a sample that leaves above `high` gets the decision of the full model.
    right_below : Boolean array of shape (B, N) or (N,), optional
        The same for samples that leave below `low`. By default none leaves there.
    agreement : float
        Share of the samples that must get the decision of the full model, in (0, 1].
    spending : array of shape (B,), optional
        Share of the budget that may be spent up to each check, rising to 1. Default: in equal steps.
    floor : float
        Lowest value of `high`. With 0, no sample leaves at a tie of leads.
    margin : float
        By how much the thresholds are moved outwards. The unit is the standard deviation of the values of the
        samples that are left at a check, but at most `WIDEST_UNIT` of that of all samples.

    Returns
    -------
    Exits
    """
    check_agreement_share(agreement)
    n_checks, n = values.shape
    above = np.broadcast_to(right_above, values.shape)
    below = None if right_below is None else np.broadcast_to(right_below, values.shape)
    low, high = np.full(n_checks, -np.inf), np.full(n_checks, np.inf)
    stage, wrong = np.full(n, n_checks), np.zeros(n, dtype=bool)
    if spending is None:
        spending = np.arange(1, n_checks + 1) / max(1, n_checks)
    allowed = np.floor((1 - agreement) * n * spending + ROUNDING).astype(np.int64)
    for i in range(n_checks):
        alive = np.flatnonzero(stage == n_checks)
        if len(alive) < FEWEST_ALIVE:
            break
        budget = int(allowed[i] - np.count_nonzero(wrong))
        value, good = values[i, alive], above[i, alive]
        if below is None:
            high[i] = max(floor, _highest_wrong(value, good, budget))
        else:
            low[i], high[i] = _both_sides(value, good, below[i, alive], budget)
        # Moved before samples leave: those that stay must be right later.
        outwards = margin * float(min(value.std(), WIDEST_UNIT * values[i].std()))
        low[i], high[i] = low[i] - outwards, high[i] + outwards
        if below is not None:
            good = np.where(value > high[i], good, below[i, alive])
        leaves = (value > high[i]) | (value < low[i])
        stage[alive[leaves]] = i
        wrong[alive[leaves]] = ~good[leaves]
    return Exits(low, high, stage, wrong)


def follow_thresholds(values: Floats, low: Floats, high: Floats) -> Ints:
    """(N,) check at which each sample leaves, given (B, N) values; B if it does not."""
    leaves = (values > high[:, np.newaxis]) | (values < low[:, np.newaxis])
    never = np.ones((1, values.shape[1]), dtype=bool)
    first: Ints = np.concatenate([leaves, never]).argmax(axis=0)
    return first


def exact_interval(n_wrong: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Interval of a share of which `n_wrong` of `n` were observed [Clopper and Pearson 1934]."""
    if n == 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    from scipy.special import betaincinv  # slow to import

    low = float(betaincinv(n_wrong, n - n_wrong + 1, tail)) if n_wrong > 0 else 0.0
    high = float(betaincinv(n_wrong + 1, n - n_wrong, 1 - tail)) if n_wrong < n else 1.0
    return low, high


def most_wrong(n: int, share: float, doubt: float) -> int:
    """Most of n samples that may be wrong to prove that at most `share` of all samples are.

    If a larger share of all samples were wrong, so few of n would be with probability at most `doubt`. It is
    −1 where even none proves nothing: for a share of 0.005 and a doubt of 0.05, below 598 samples.
    """
    counts = np.arange(math.ceil(share * n) + 1)
    from scipy.special import bdtr

    return int(np.count_nonzero(bdtr(counts, n, share) <= doubt)) - 1


def check_agreement_share(agreement: float) -> None:
    """Raise an error unless the share is in (0, 1]."""
    if not (isinstance(agreement, int | float | np.number) and 0 < agreement <= 1):
        raise ValueError(
            f"agreement is {agreement!r}: give the share of decisions that must not change, above 0 and "
            "up to 1, such as 0.995"
        )


def _highest_wrong(values: Floats, right: Flags, budget: int) -> float:
    """Lowest threshold with at most `budget` wrong samples above: the next wrong one; −inf if none."""
    wrong = values[~right]
    if budget >= len(wrong):
        return -math.inf
    return float(np.partition(wrong, len(wrong) - budget - 1)[len(wrong) - budget - 1])


def _both_sides(values: Floats, above: Flags, below: Flags, budget: int) -> tuple[float, float]:
    """Low and high threshold: the budget is divided so that most samples leave."""
    falling = np.sort(values[~above])[::-1]  # the wrong ones above
    rising = np.sort(values[~below])
    ascending = np.sort(values)
    best, found = -1, (-math.inf, math.inf)
    for spent in range(min(budget, len(falling)) + 1):
        rest = budget - spent
        high = float(falling[spent]) if spent < len(falling) else -math.inf
        low = float(rising[rest]) if rest < len(rising) else math.inf
        if high < low:  # every sample may leave on either side: the middle parts the sides
            high = low = _middle(high, low)
        n_left = int(np.searchsorted(ascending, low, "left"))
        n_left += len(ascending) - int(np.searchsorted(ascending, high, "right"))
        if n_left > best:
            best, found = n_left, (low, high)
    return found


def _middle(high: float, low: float) -> float:
    if math.isinf(high) and math.isinf(low):
        return 0.0
    if math.isinf(high):
        return low
    return high if math.isinf(low) else (high + low) / 2
