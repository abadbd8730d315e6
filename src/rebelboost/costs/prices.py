"""Over which range of each price a decision holds, while all other prices stay as they are.

Decision k has the least expected cost where Σ_i P_i (C_ij − C_ik) ≥ 0 for all j. This is linear in each price
C_ab, so the prices at which it holds are an interval: up to a limit if b is the decision, otherwise from a
limit on.
"""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Labels
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
        changed = costs * factor
        return ((changed < self.low) | (changed > self.high)).mean(axis=0)


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
