"""Over which range of each price a decision holds, while all other prices stay as they are.

Decision k has the least expected cost where Σ_i P_i (C_ij − C_ik) ≥ 0 for all j. This is linear in each price
C_ab, so the prices at which it holds are an interval: up to a limit if b is the decision, otherwise from a
limit on.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Labels
from rebelboost.costs.decision import expected_costs


class PriceRanges(NamedTuple):
    """The closed interval of each price over which each decision holds."""

    low: Floats
    """(N, K, K) lowest price of deciding b if a is true, low[n, a, b]; NaN on the diagonal."""
    high: Floats
    """(N, K, K) highest price; infinite where there is none."""
    abstaining: Floats
    """(N, 2) interval of the price of abstaining."""

    def flipped(self, costs: Floats, factor: float) -> Floats:
        """(K, K) share of the decisions that change if a price is multiplied by the factor."""
        return self._changes(costs, factor).mean(axis=0)

    def _changes(self, costs: Floats, factor: float) -> NDArray[np.bool_]:
        changed = costs * factor
        changes: NDArray[np.bool_] = (changed < self.low) | (changed > self.high)
        return changes

    def weight_flipped(self, costs: Floats, factor: float, weight: BySample) -> Floats:
        """(K, K) weight of the decisions that change if a price is multiplied by the factor."""
        return np.tensordot(weight, self._changes(costs, factor), axes=1)


def price_ranges(
    posterior: Floats, costs: Floats, decided: Labels, reject_cost: float | None = None
) -> PriceRanges:
    """Find the intervals; `decided` is K for an abstention, and costs are (K, K) or (N, K, K)."""
    n_samples, n_classes = posterior.shape
    rows = np.arange(n_samples)
    costs = np.broadcast_to(costs, (n_samples, n_classes, n_classes))
    risks = expected_costs(posterior, np.ascontiguousarray(costs))
    limit = np.inf if reject_cost is None else reject_cost
    abstained = decided == n_classes
    chosen = np.minimum(decided, n_classes - 1)
    rest = risks.copy()
    rest[rows, chosen] = np.inf
    least_rest = rest.min(axis=1)
    # What the risk of b may rise or fall to, when the price of b changes.
    ceiling = np.minimum(least_rest, limit)
    floor = np.where(abstained, limit, risks[rows, chosen])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        without = risks[:, np.newaxis, :] - posterior[:, :, np.newaxis] * costs
        up = (ceiling[:, np.newaxis, np.newaxis] - without) / posterior[:, :, np.newaxis]
        down = (floor[:, np.newaxis, np.newaxis] - without) / posterior[:, :, np.newaxis]
    is_own = ~abstained[:, np.newaxis] & (chosen[:, np.newaxis] == np.arange(n_classes))
    own = np.broadcast_to(is_own[:, np.newaxis, :], up.shape)
    matters = np.broadcast_to((posterior > 0)[:, :, np.newaxis], up.shape)
    # The present price is always within, whatever rounding says.
    high = np.where(own & matters, np.maximum(up, costs), np.inf)
    low = np.where(~own & matters, np.minimum(np.maximum(down, 0.0), costs), 0.0)
    diagonal = np.eye(n_classes, dtype=bool)
    low, high = low.copy(), high.copy()
    low[:, diagonal] = high[:, diagonal] = np.nan
    least = risks.min(axis=1)
    abstaining = np.column_stack(
        [np.where(abstained, 0.0, least), np.where(abstained, least, np.inf)]
    )
    return PriceRanges(low, high, abstaining)


class PriceChange(NamedTuple):
    """How many decisions change with the price of one kind of mistake."""

    true: int
    """Code of the true class."""
    decided: int
    price: float
    """The price; where rows have their own, the mean."""
    halved: float
    """Share of the decisions that change if it is halved."""
    doubled: float
    """Share of the decisions that change if it is doubled."""


MOST_CELLS = 20_000_000
"""Rows times prices, at most: more would take long."""
AT_ONCE = 1_000_000


def price_changes(
    posterior: Floats,
    costs: Floats,
    decided: Labels,
    reject_cost: float | None,
    weight: BySample,
) -> tuple[PriceChange, ...]:
    """Of each price, the most influential first; none if there are too many rows and classes."""
    n_samples, n_classes = posterior.shape
    if n_classes < 2 or n_samples * n_classes**2 > MOST_CELLS:
        return ()
    halved, doubled = np.zeros((2, n_classes, n_classes))
    step = max(1, AT_ONCE // n_classes**2)
    for rows in (slice(begin, begin + step) for begin in range(0, n_samples, step)):
        own = costs[rows] if costs.ndim == 3 else costs
        found = price_ranges(posterior[rows], own, decided[rows], reject_cost)
        halved += found.weight_flipped(own, 0.5, weight[rows])
        doubled += found.weight_flipped(own, 2.0, weight[rows])
    mean = np.average(costs, axis=0, weights=weight) if costs.ndim == 3 else costs
    total = float(weight.sum())
    cells = [(a, b) for a in range(n_classes) for b in range(n_classes) if a != b]
    changes = [
        PriceChange(a, b, float(mean[a, b]), *(float(of[a, b]) / total for of in (halved, doubled)))
        for a, b in cells
    ]
    return tuple(sorted(changes, key=lambda each: -max(each.halved, each.doubled)))
