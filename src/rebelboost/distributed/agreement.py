"""What the descriptions of all parts must agree on, and what follows from them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, Floats, Ints
from rebelboost.base.fixed_point import counting_unit
from rebelboost.data.encoder import FeatureEncoder, encoder_of
from rebelboost.distributed.reading import Description, Summary
from rebelboost.exceptions import PartitionError


def check_agreeing(described: Sequence[Description]) -> None:
    """Raise an error if a part has other columns, or other types, than the first that has rows."""
    filled = [each for each in described if each.n_rows > 0]
    if not filled:
        raise ValueError(f"all {len(described)} parts of the rows are empty: give at least one row")
    first = filled[0]
    for each in filled[1:]:
        where = each.where
        if each.names != first.names:
            raise PartitionError(f"{where}: {_other_names(each, first)}")
        if each.n_features != first.n_features:
            raise PartitionError(
                f"{where} has {each.n_features} columns, but {first.where} has "
                f"{first.n_features}: give all of them the same columns"
            )
        for f, (mine, theirs) in enumerate(zip(each.kinds, first.kinds, strict=True)):
            if mine != theirs:
                name = repr(first.names[f]) if first.names else f
                raise PartitionError(
                    f"{where}: column {name} holds {mine}, but {theirs} in {first.where}: "
                    "convert it to one type"
                )
        if _kind(each.classes) != _kind(first.classes):
            raise PartitionError(
                f"{where}: y has labels such as {each.classes.tolist()[0]!r}, but "
                f"{first.where} such as {first.classes.tolist()[0]!r}: convert them to one type"
            )


def _other_names(each: Description, first: Description) -> str:
    mine, theirs = each.names or (), first.names or ()
    odd = [name for name in mine if name not in theirs]
    lacking = [name for name in theirs if name not in mine]
    if odd:
        what = f"column {odd[0]!r} is not in {first.where}"
    elif lacking:
        what = f"column {lacking[0]!r} of {first.where} is not there"
    else:
        what = f"the columns are in another order than in {first.where}"
    return f"{what}: give all of them the same columns"


def _kind(classes: NDArray[Any]) -> str:
    """Text, whole numbers of any width, or else the kind of NumPy: True is not 1, and 1.0 not either."""
    kind = classes.dtype.kind
    return next((alike for alike in ("OUST", "iu") if kind in alike), kind)


@dataclass(frozen=True)
class SpreadTable:
    """What all parts together are."""

    encoder: FeatureEncoder
    names: NDArray[Any] | None
    classes: NDArray[Any]
    weight_shift: int
    narrow: bool
    n_rows: Ints
    """(parts,) number of rows of each."""


def table_of(described: Sequence[Description]) -> SpreadTable:
    """Merge the descriptions of parts that agree."""
    check_agreeing(described)
    filled = [each for each in described if each.n_rows > 0]
    levels: dict[int, Counter[Any]] = {f: Counter() for f in filled[0].levels}
    for each in filled:
        for f, counts in each.levels.items():
            levels[f].update(counts)
    heaviest = max(each.largest_weight for each in filled)
    if not heaviest > 0:
        raise ValueError("every sample_weight is 0: at least one must be positive")
    names = filled[0].names
    return SpreadTable(
        encoder_of(filled[0].n_features, levels),
        None if names is None else np.array(names, dtype=object),
        np.unique(np.concatenate([each.classes for each in filled])),
        int(np.frexp(heaviest)[1]),
        all(each.narrow for each in filled),
        np.array([each.n_rows for each in sorted(described, key=lambda each: each.number)]),
    )


@dataclass(frozen=True)
class Units:
    """Units in which weights, and costs by sample times weights, are counted."""

    weight: float
    paid: float


@dataclass(frozen=True)
class Sizes:
    """Numbers and extremes of the rows of all parts."""

    n_rows: int
    weighted: bool
    """Whether samples have weights."""
    largest_weight: float
    largest_cost: float
    """Of costs by sample."""
    units: Units
    paid_units: Floats
    """(K,) units of costs by sample, by decision."""
    lightest: ByClass
    least_paid: float
    missing: list[int]


def sizes_of(summaries: Sequence[Summary], *, weighted: bool) -> Sizes:
    """Merge the summaries of all parts."""
    n_rows = sum(each.n_rows for each in summaries)
    weight = max(each.largest_weight for each in summaries)
    paid = np.max([each.largest_paid for each in summaries], axis=0)
    missing = np.any([each.missing for each in summaries], axis=0)
    return Sizes(
        n_rows,
        weighted,
        weight,
        float(np.max([each.largest_costs for each in summaries])),
        Units(
            counting_unit(weight, n_rows) if weighted else 1.0,
            counting_unit(float(paid.max()), n_rows),
        ),
        np.array([counting_unit(most, n_rows) for most in paid.tolist()]),
        np.min([each.lightest for each in summaries], axis=0),
        min(each.least_paid for each in summaries),
        [int(f) for f in np.flatnonzero(missing)],
    )
