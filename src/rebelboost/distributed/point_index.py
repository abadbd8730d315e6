"""The points of all parts in one order, which does not depend on the parts, and those that rows share."""

import math
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Ints
from rebelboost.base.fixed_point import counting_unit
from rebelboost.base.hashing import Keys
from rebelboost.data.point_set import (
    first_of_each,
    least_paid,
    n_learned_from,
    sums_of_groups,
)
from rebelboost.data.spaces import Embedding, fit_embedding
from rebelboost.distributed.agreement import Sizes, SpreadTable
from rebelboost.distributed.points import (
    DistinctRows,
    MergedPoints,
    MergePoints,
    PlacedPart,
    PlacePoints,
    PointSums,
    RowsAt,
)
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.targets import CountWeights
from rebelboost.exceptions import PartitionError

MOST_ROWS = 2**31 - 1


class PointIndex(NamedTuple):
    """The distinct points of all parts, by increasing key."""

    space: Embedding
    keys: Keys
    """(N,)"""
    rows: Ints
    """(N,) the first row at each, counted through all parts."""
    places: Ints
    """Where each part's points are in this order, part by part."""
    total_weight: float
    largest_cost: float | None
    """If rows at one point were merged, so that each point has costs of its own; else None."""
    unavoidable: float
    """Mean cost that no scores can avoid."""


def fit_spread_space(spread: SpreadRows, table: SpreadTable, sizes: Sizes, scale: str) -> Embedding:
    """The space that all rows in one place give (`rebelboost.data.point_set.fit_space`)."""
    most = n_learned_from(table.encoder.n_features)
    found = [own for own in spread.ask(DistinctRows(most, sizes.units.weight)) if len(own.keys)]
    keys = np.concatenate([own.keys for own in found])
    rows = found[0].rows
    for own in found[1:]:
        rows = rows.joined(own.rows)
    counts = np.concatenate([own.counts for own in found])
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    weight = np.zeros(len(first), dtype=np.int64)
    np.add.at(weight, group, counts)
    used = first[:most]
    return fit_embedding(
        rows.X[used],
        rows.labels[used],
        table.encoder.categorical,
        scale,
        weight[:most].astype(np.float64) * sizes.units.weight,
    )


def index_points(
    spread: SpreadRows, space: Embedding, table: SpreadTable, costs: Floats | None, sizes: Sizes
) -> PointIndex:
    """Let the parts map their rows to points, and merge rows at the same point; `costs` are by class."""
    placed: list[PlacedPart] = sorted(spread.ask(PlacePoints(space)), key=lambda own: own.number)
    keys = np.concatenate([own.keys for own in placed])
    part = np.repeat([own.number for own in placed], [len(own.keys) for own in placed])
    n_rows = np.concatenate([own.n_rows for own in placed])
    starts = np.append(0, np.cumsum(table.n_rows))
    if starts[-1] > MOST_ROWS:
        raise PartitionError(
            f"similarities know at most {MOST_ROWS:,} rows, but there are {starts[-1]:,}: use trees"
        )
    rows = np.concatenate([own.rows + starts[own.number] for own in placed])
    order = np.lexsort((part, keys))
    first, group = first_of_each(keys[order])
    places = np.empty(len(keys), dtype=np.int64)
    places[order] = group
    shared = np.bincount(group, n_rows[order]) > 1
    chosen = order[first]
    index = PointIndex(
        space,
        keys[chosen],
        rows[chosen],
        places,
        float(len(chosen)),
        None,
        0.0,
    )
    if not shared.any():
        if not sizes.weighted:
            return index
        unit = counting_unit(sizes.largest_weight, sizes.n_rows)
        (counted,) = spread.ask(CountWeights(unit, held=False))
        return index._replace(total_weight=float(counted * unit))
    return _merged(spread, index, index.keys[shared], part[chosen][shared], costs)


def _merged(
    spread: SpreadRows, index: PointIndex, shared: Keys, owner: Ints, costs: Floats | None
) -> PointIndex:
    """Merge the rows at each point [LOCAL, footnote 1]; see `rebelboost.data.point_set.merge`."""
    found = [own for own in spread.ask(RowsAt(shared)) if len(own.keys)]
    keys, rows = np.concatenate([own.keys for own in found]), found[0].rows
    for each in found[1:]:
        rows = rows.joined(each.rows)
    order = np.argsort(keys, kind="stable")
    rows = rows.take(order)
    first, _ = first_of_each(keys[order])
    paid = rows.costs if costs is None else costs[rows.labels]
    assert paid is not None
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    mass, sums = sums_of_groups(weight, paid * weight[:, np.newaxis], first)
    own = np.minimum.reduceat(rows.labels, first)
    own_costs, labels, least = least_paid(sums / mass[:, np.newaxis], own)
    merged = MergedPoints(shared, labels, own_costs, mass, owner)
    others: list[PointSums] = spread.ask(MergePoints(costs, merged))
    total = math.fsum(part for each in others for part in each.weights)
    lost = math.fsum([*(least * mass), *(part for each in others for part in each.unavoidable)])
    unit = counting_unit(max(each.largest_weight for each in others), len(index.keys))
    (counted,) = spread.ask(CountWeights(unit, held=False))
    return index._replace(
        total_weight=float(counted * unit),
        largest_cost=max(each.largest_cost for each in others),
        unavoidable=lost / total,
    )
