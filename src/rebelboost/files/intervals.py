"""Storage of prediction intervals in a model file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Fields, Shelf, require
from rebelboost.files.sample_costs import stored_trees, take_trees
from rebelboost.files.terms import LARGEST_NUMBER, Features, reach
from rebelboost.model.intervals import Intervals, Spread

Parts = tuple[dict[str, NDArray[Any]], dict[str, Any]]


def interval_arrays(intervals: Intervals | None) -> Parts:
    """Arrays, and a JSON object."""
    if intervals is None:
        return {}, {"intervals": None}
    spread = intervals.spread
    trees = stored_trees(spread.ensemble)
    arrays: dict[str, NDArray[Any]] = {
        "intervals.residuals": intervals.residuals,
        "intervals.weight": intervals.weight,
    }
    arrays |= {f"intervals.trees.{name}": array for name, array in trees.to_tensors().items()}
    fields = {"level": float(spread.level), "power": float(spread.power), "n_trees": len(trees)}
    return arrays, {"intervals": fields}


def take_intervals(shelf: Shelf, fields: Fields, features: Features) -> Intervals | None:
    """Read the intervals of a regressor, and check them."""
    found = fields.any("intervals")
    if found is None:
        return None
    said = Fields(found, "'intervals'")
    level = said.number("level", 1 / LARGEST_NUMBER, LARGEST_NUMBER)
    power = said.number("power", 0.0, 1.0)
    ensemble = take_trees(shelf, "intervals.trees", said.whole("n_trees", 0, 2**31 - 1), features)
    said.end()
    require(reach(ensemble) / level <= LARGEST_NUMBER, "'intervals' that are endless")
    residuals = shelf.numbers("intervals.residuals", None)
    weight = shelf.numbers("intervals.weight", len(residuals))
    sound = len(residuals) > 0 and (np.diff(residuals) >= 0).all() and (weight > 0).all()
    require(sound, "intervals from residuals that are not sorted, or have no weight")
    largest = max(float(np.abs(residuals).max()), float(weight.max()))
    require(largest <= LARGEST_NUMBER, "intervals from huge residuals or weights")
    return Intervals(Spread(level, ensemble, power), residuals.copy(), weight.copy())
