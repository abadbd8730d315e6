"""Which numbers can be costs."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats
from rebelboost.exceptions import CostError

LEAST_COST, LARGEST_COST = 1e-30, 1e30
"""Limits of costs that are not 0. Whatever is computed from them, such as their squares, is finite and
not 0."""
IN_RANGE = f"0, or from {LEAST_COST:g} to {LARGEST_COST:g}"

Where = Callable[[int, int], str]
"""(row, column) → description of that cost, for messages."""


def are_costs(numbers: Floats) -> NDArray[np.bool_]:
    """Whether each number can be a cost."""
    found: NDArray[np.bool_] = (numbers == 0) | (
        (numbers >= LEAST_COST) & (numbers <= LARGEST_COST)
    )
    return found


def checked_costs(costs: Floats, where: Where) -> Floats:
    """Return the costs, or raise an error that names the first that is none."""
    if are_costs(costs).all():
        return costs
    n, k = map(int, np.argwhere(~are_costs(costs))[0])
    cost = costs[n, k]
    remedy = f"costs are {IN_RANGE}. Give all costs in another unit"
    if not np.isfinite(cost):
        remedy = "give a finite number, 0 or more"
    elif cost < 0:
        remedy = (
            "costs cannot be negative. Subtract the smallest entry of a row from the row: this changes "
            "no decision"
        )
    raise CostError(f"the cost of {where(n, k)} at ({n}, {k}) is {cost:g}: {remedy}")
