"""Storage of terms in a model file. On loading, everything that prediction relies on is checked."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Outputs
from rebelboost.base.checks import Fields, TensorReader, require
from rebelboost.base.hashing import n_distinct_values
from rebelboost.data.spaces import space_from_tensors
from rebelboost.exceptions import ModelFileError
from rebelboost.files.training_rows import StoredRows
from rebelboost.model.comparisons import Comparisons, Placed, from_tensors, to_tensors
from rebelboost.model.ensemble import Ensemble, Group
from rebelboost.model.smooth import SmoothFunction, SmoothSimilarities, smooth_arrays, take_smooth
from rebelboost.model.terms import Terms
from rebelboost.model.trees import Trees

KINDS: tuple[type[Terms], ...] = (Trees, Comparisons, SmoothSimilarities)
"""Kinds of terms that a file can store; a kind's code is its position."""
TREE, SIMILARITY, SMOOTH = range(3)
LARGEST_SCORE, LARGEST_NUMBER = 1e12, 1e200
"""Limits of the scores of classifiers, and of the predictions of regressors. Whatever is computed from them,
such as their squares, stays finite."""


class Features(NamedTuple):
    """Features that terms may use."""

    n: int
    levels: dict[int, int]
    """Categorical feature → number of categories."""

    @property
    def categorical(self) -> NDArray[np.bool_]:
        """(d,) True for categorical features."""
        flags = np.zeros(self.n, dtype=bool)
        flags[list(self.levels)] = True
        return flags


# ---- to a file


def term_arrays(ensemble: Ensemble) -> tuple[dict[str, NDArray[Any]], list[dict[str, Any]]]:
    """All arrays by name, and a JSON object for each space."""
    kinds = np.empty(len(ensemble), dtype=np.uint8)
    for positions, terms in ensemble.groups:
        kinds[positions] = _number(terms)
    arrays: dict[str, NDArray[Any]] = {"terms": kinds}
    trees = ensemble.of_kind(Trees)
    stored = trees[0][1] if trees else Trees.none(ensemble.n_classes)
    arrays |= {f"trees.{name}": array for name, array in stored.to_tensors().items()}
    tables = ensemble.of_kind(Comparisons)
    places = np.concatenate([np.empty(0, np.int64), *(places for places, _ in tables)])
    order = np.argsort(places, kind="stable")
    compared, spaces = to_tensors([table for _, table in tables], order, ensemble.n_classes)
    arrays |= {f"similarities.{name}": array for name, array in compared.items()}
    smooth, functions = smooth_arrays(
        [table for _, table in ensemble.of_kind(SmoothSimilarities)],
        len(spaces),
        ensemble.n_classes,
    )
    if functions:
        arrays |= {f"smooth.{name}": array for name, array in smooth.items()}
    fields = []
    for i, placed in enumerate(located(ensemble)):
        assert placed.space is not None
        tensors, said = placed.space.to_tensors(placed.points)
        arrays[f"spaces.{i}.rows"] = placed.rows
        arrays |= {f"spaces.{i}.{name}": array for name, array in tensors.items()}
        fields.append(said)
    return arrays, fields


def located(ensemble: Ensemble) -> list[Comparisons | SmoothFunction]:
    """What has a space, in the order of the spaces in a file."""
    compared = [table for _, table in ensemble.of_kind(Comparisons) if table.space is not None]
    smooth = [f for _, table in ensemble.of_kind(SmoothSimilarities) for f in table.functions]
    return [*compared, *smooth]


def check_storable(ensemble: Ensemble, most: float) -> None:
    """Raise an error for terms that a file cannot store; `most` limits their scores."""
    for group in ensemble.groups:
        _number(group.terms)
    if not reach(ensemble) <= most:
        raise ModelFileError(
            f"the outputs of the terms add up to more than {most:g}, which a model file cannot store: "
            "scale the target, or use a smaller shrinkage"
        )


AT_ONCE = 1 << 13
"""Number of outputs added up at a time: a copy of all would be the peak of loading."""


def reach(ensemble: Ensemble) -> float:
    """An upper bound of all scores: the sum of all outputs, without their signs."""
    with np.errstate(over="ignore"):
        return sum(
            float(np.abs(some).sum())
            for array in _outputs(ensemble)
            for some in np.array_split(array.ravel(), 1 + array.size // AT_ONCE)
        )


def _outputs(ensemble: Ensemble) -> Iterator[Outputs]:
    for _, terms in ensemble.groups:
        if isinstance(terms, SmoothSimilarities):
            yield from (function.a for function in terms.functions)
        yield terms.outputs


def _number(terms: Terms) -> int:
    if type(terms) not in KINDS:
        (name, *_) = type(terms).heading([terms])
        raise ModelFileError(
            f"a term is a {name.rpartition(' ')[2]}, which a model file cannot store: save the model "
            "with pickle or skops, or train with Tree, Stump or Similarity"
        )
    return KINDS.index(type(terms))


# ---- from a file


def take_terms(
    reader: TensorReader,
    spaces: list[Any],
    features: Features,
    examples: StoredRows,
    n_classes: int,
    unavoidable_cost: float,
) -> Ensemble:
    """Read the ensemble, and check that all numbers are in range."""
    kinds = reader.take("terms", np.uint8, None)
    require((kinds < len(KINDS)).all(), "terms of an unknown kind")
    places = [np.flatnonzero(kinds == kind) for kind in range(len(KINDS))]
    trees = Trees.from_tensors(reader, len(places[TREE]), features.categorical, n_classes)
    placed = [
        _take_space(reader, i, Fields(f, "a space"), features, examples)
        for i, f in enumerate(spaces)
    ]
    compared = from_tensors(reader, len(places[SIMILARITY]), placed, n_classes)
    groups = [Group(places[TREE], trees)] if len(trees) else []
    groups += [Group(places[SIMILARITY][own], table) for own, table in compared]
    smooth = take_smooth(reader, len(places[SMOOTH]), placed, n_classes)
    groups += [Group(places[SMOOTH], smooth)] if len(smooth) else []
    ordered = sorted(groups, key=lambda group: int(group.positions[0]))
    return Ensemble(tuple(ordered), n_classes, unavoidable_cost)


def _take_space(
    reader: TensorReader, i: int, fields: Fields, features: Features, examples: StoredRows
) -> Placed:
    name = f"spaces.{i}"
    space, points, rows = space_from_tensors(
        reader, name, fields, features.n, features.levels, examples.points
    )
    require(n_distinct_values(rows) == len(rows), f"a repeated row among the examples of {name}")
    fields.end()
    require(np.isfinite(points).all(), f"{name} with a point that is not finite")
    return Placed(space, rows, points)
