"""What reasons need beyond the scores, as plain arrays: weights of leaves, and the training rows.

Contributions of trees and comparisons are added in the order of `rebelboost.explain`, so that they are the same
bits. Those of smooth functions are integrals, which agree to about 1e-9.
"""

from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Ints
from rebelboost.base.names import plain, printed
from rebelboost.data.encoder import is_present
from rebelboost.model.comparisons import Comparisons
from rebelboost.model.fitted import FittedRegressor, FittedTerms
from rebelboost.model.shares import CHUNK, Shares
from rebelboost.model.smooth import SmoothSimilarities, nodes_and_weights
from rebelboost.model.terms import Queries, Terms
from rebelboost.model.trees import Trees


class TrainingRow(NamedTuple):
    """A training row that samples are compared with."""

    label: Any
    """What it is called."""
    code: int
    """Of its class; −1 in a regression."""
    cells: tuple[Any, ...]
    """Its features; empty if they are not kept."""


class Explaining(NamedTuple):
    """What a program needs to give reasons."""

    baseline: Floats
    """(K,) what is the same for every sample."""
    tables: tuple[dict[str, Any], ...]
    """For each table of the first sum: its kind of reasons, as arrays."""
    order: Ints
    """Positions of the tables, in the order in which contributions are added."""
    rows: dict[int, TrainingRow]
    """Row number → the row."""
    nodes: Floats
    """Where derivatives are evaluated between the mean, 0, and a sample, 1."""
    node_weights: Floats
    at_once: int
    """Values that are added at a time, which fixes the order of the sums."""


def explaining_of(model: FittedTerms, *, rows: bool = True, names: bool = True) -> Explaining:
    """The arrays of a fitted model, with or without values and names of training rows."""
    groups = model.ensemble.groups
    tables: list[dict[str, Any]] = []
    firsts = []
    for group in groups:
        firsts.append(len(tables))
        tables += _tables(group.terms)
    ends = [*firsts[1:], len(tables)]
    # As `explain.shares.contributions`: terms that compare rows come last.
    by_rows = sorted(range(len(groups)), key=lambda g: len(groups[g].terms.example_rows) > 0)
    order = [i for g in by_rows for i in range(firsts[g], ends[g])]
    return Explaining(
        _baseline(model, [groups[g].terms for g in by_rows]),
        tuple(tables),
        np.array(order, dtype=np.int64),
        _rows(model, rows=rows, names=names),
        *nodes_and_weights(),
        CHUNK,
    )


def _baseline(model: FittedTerms, terms: list[Terms]) -> Floats:
    shares = Shares.none(1, model.n_features, model.ensemble.n_classes)
    queries = Queries(np.full((1, model.n_features), np.nan))
    for each in terms:
        each.share_out(queries, shares, 1)
    return shares.baseline + (model.baseline if isinstance(model, FittedRegressor) else 0.0)


def _rows(model: FittedTerms, *, rows: bool, names: bool) -> dict[int, TrainingRow]:
    kept = model.provenance
    numbers = list(kept.example_classes) or model.ensemble.example_rows
    values = kept.example_values if rows and len(kept.example_classes) else None
    labels = kept.row_labels if names else {}
    return {
        int(row): TrainingRow(
            _plain(labels.get(row, row)),
            int(kept.example_classes.get(row, -1)),
            () if values is None else tuple(map(_cell, values[i].tolist())),
        )
        for i, row in enumerate(numbers)
    }


def _plain(label: Any) -> Any:
    label = plain(label)
    return label if isinstance(label, bool | int | float | str) else printed(label)


def _cell(value: float) -> float | None:
    """A value as JSON can represent it."""
    return value if is_present(value) else None


def _tables(terms: Terms) -> list[dict[str, Any]]:
    if isinstance(terms, Trees):
        return [_of_trees(terms)]
    if isinstance(terms, SmoothSimilarities):
        return [
            {"rows": f.rows.astype(np.int64), "features": f.space.feature_of_column}
            for f in terms.functions
        ]
    assert isinstance(terms, Comparisons)
    return [{} if terms.space is None else {"rows": terms.rows.astype(np.int64)}]


def _of_trees(trees: Trees) -> dict[str, Any]:
    """The weights of the leaves that are exported (`splits_in_order`), and layers of the splits if needed.

    A leaf that stands for several, because no split led to them, has the weight of all.
    """
    layers, steps, cover = list[int](), list[int](), list[float]()
    is_split = (trees.features >= 0).tolist()
    roots = zip(
        trees.node_offsets.tolist(),
        trees.leaf_offsets.tolist(),
        trees.n_nodes.tolist(),
        strict=True,
    )
    for first_node, first_leaf, n_nodes in roots:
        own = trees.cover[first_leaf : first_leaf + n_nodes + 1]
        weight = _of_nodes(np.where(np.isnan(own), 1.0, own)).tolist()
        pending = [(0, 0)]
        while pending:
            place, step = pending.pop()
            top = place
            while place < n_nodes and not is_split[first_node + place]:
                place = 2 * place + 1
            if place >= n_nodes:
                cover.append(weight[top])
                continue
            layers.append((place + 1).bit_length() - 1)
            steps.append(step)
            pending += [(2 * place + 2, step + 1), (2 * place + 1, step + 1)]
    # Without splits that are left out on the way, the layer of a split is the number of those above it.
    kept = [] if layers == steps else layers
    return {
        "cover": np.array(cover),
        "layers": np.array(kept, dtype=np.int64),
        "depths": trees.depths,
    }


def _of_nodes(leaves: Floats) -> Floats:
    """(2n − 1,) weights of the nodes and leaves of a complete tree, in level order."""
    levels = [leaves]
    while len(levels[0]) > 1:
        levels.insert(0, levels[0][0::2] + levels[0][1::2])
    return np.concatenate(levels)
