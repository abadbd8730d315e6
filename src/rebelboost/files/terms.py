"""Storage of terms in a model file. On loading, everything that prediction relies on is checked."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Fields, TensorReader, require
from rebelboost.base.hashing import n_distinct_values
from rebelboost.data.stored_spaces import space_from_tensors
from rebelboost.exceptions import ModelFileError
from rebelboost.files.training_rows import StoredRows
from rebelboost.model.comparisons import Comparisons
from rebelboost.model.ensemble import Ensemble, Group
from rebelboost.model.smooth import SmoothSimilarities
from rebelboost.model.terms import Placed, StoredTerms, Surroundings, Terms
from rebelboost.model.trees import Trees

KINDS: tuple[type[StoredTerms], ...] = (Trees, Comparisons, SmoothSimilarities)
"""Kinds of terms that a file can store; a kind's code is its position."""
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
        kinds[positions] = KINDS.index(stored_kind(terms))
    arrays: dict[str, NDArray[Any]] = {"terms": kinds}
    first_space = 0
    for kind in KINDS:
        groups = ensemble.of_kind(kind)
        own = kind.to_arrays(groups, first_space, ensemble.n_classes)
        arrays |= {f"{kind.stored_as}.{name}": array for name, array in own.items()}
        first_space += sum(len(terms.placed) for _, terms in groups)
    fields = []
    for i, (space, rows, points) in enumerate(located(ensemble)):
        tensors, said = space.to_tensors(points)
        arrays[f"spaces.{i}.rows"] = rows
        arrays |= {f"spaces.{i}.{name}": array for name, array in tensors.items()}
        fields.append(said)
    return arrays, fields


def located(ensemble: Ensemble) -> list[Placed]:
    """All spaces with their examples, in the order of a file."""
    return [
        placed for kind in KINDS for _, terms in ensemble.of_kind(kind) for placed in terms.placed
    ]


def check_storable(ensemble: Ensemble, most: float) -> None:
    """Raise an error for terms that a file cannot store; `most` limits their scores."""
    for group in ensemble.groups:
        stored_kind(group.terms)
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
            for group in ensemble.groups
            for array in group.terms.all_outputs()
            for some in np.array_split(array.ravel(), 1 + array.size // AT_ONCE)
        )


def stored_kind(terms: Terms) -> type[StoredTerms]:
    """The kind of terms, if a file can store it."""
    for kind in KINDS:
        if type(terms) is kind:
            return kind
    (name, *_) = type(terms).heading([terms])
    raise ModelFileError(
        f"a term is a {name.rpartition(' ')[2]}, which a model file cannot store: save the model "
        "with pickle or skops, or train with Tree, Stump or Similarity"
    )


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
    placed = [
        _take_space(reader, i, Fields(f, "a space"), features, examples)
        for i, f in enumerate(spaces)
    ]
    around = Surroundings(features.categorical, placed, n_classes)
    groups = [
        Group(*found)
        for code, kind in enumerate(KINDS)
        for found in kind.from_arrays(reader, np.flatnonzero(kinds == code), around)
    ]
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
