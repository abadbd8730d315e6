"""What training saw, as counts: of each column by ranges or categories, and of held-out probabilities.

New rows are compared with these counts (`rebelboost.theory.drift`). No row is kept. Ranges of numbers end
halfway between values of neighbouring rows, as thresholds of trees do, and have `FEWEST` rows at least.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Ints, Labels, Values
from rebelboost.base.hashing import distinct

MOST_RANGES, FEWEST = 10, 10
MOST_COLUMNS = 2000
"""Of tables with more columns, nothing is kept."""
N_LEVELS = 5
"""Number of ranges of the held-out probabilities."""


class HeldOutCounts(NamedTuple):
    """Probabilities of training rows by fits that did not see them, counted for each part that was left out."""

    code: int
    """The class whose probability it is; −1: the most probable class."""
    edges: Floats
    """(B − 1,) ends of the ranges, ascending."""
    counts: Labels
    """(F, B) rows of each part by range."""
    means: Floats
    """(F, K) mean probability of each class."""


class TrainingCounts(NamedTuple):
    """Counts of the training rows."""

    n_rows: int
    edges: tuple[Floats, ...]
    """For each feature, ends of the ranges, ascending; none for categories."""
    counts: tuple[Labels, ...]
    """For each feature, rows by range or category, and without a value last."""
    held_out: HeldOutCounts | None = None
    """None without fits that left rows out."""


def count_columns(
    columns: Sequence[Values], n_rows: int, n_levels: Mapping[int, int]
) -> TrainingCounts | None:
    """Count `spread.sorted_columns`; `n_levels` are the numbers of categories. None if there are too many."""
    if len(columns) > MOST_COLUMNS or n_rows == 0:
        return None
    edges, counts = [], []
    for f, values in enumerate(columns):
        ends = np.empty(0) if f in n_levels else range_edges(values)
        found = (
            np.bincount(values.astype(np.int64), minlength=n_levels[f])
            if f in n_levels
            else np.diff(np.searchsorted(values, ends), prepend=0, append=len(values))
        )
        edges.append(ends)
        counts.append(np.append(found, n_rows - len(values)).astype(np.int32))
    return TrainingCounts(n_rows, tuple(edges), tuple(counts))


def range_edges(ordered: Values, most: int = MOST_RANGES) -> Floats:
    """Ends of ranges with about equally many rows, given the values that rows have, ascending."""
    values = ordered.astype(np.float64, copy=False)
    n_ranges = min(most, len(values) // FEWEST)
    if n_ranges < 2:
        return np.empty(0)
    places = np.linspace(0, len(values), n_ranges + 1)[1:-1].astype(np.int64)
    # Up to the next value that differs from the one at the place.
    ends = np.searchsorted(values, values[places], side="left")
    ends = distinct(ends[(ends >= FEWEST) & (ends <= len(values) - FEWEST)])
    ends = ends[np.diff(np.append(-FEWEST, ends)) >= FEWEST]
    below, above = values[ends - 1], values[ends]
    found: Floats = below + (above - below) / 2
    return distinct(found[np.isfinite(found)])


def counted(column: Floats, edges: Floats, n_levels: int | None) -> Labels:
    """Rows by range or category, and without a value last."""
    present = column[~np.isnan(column)]
    if n_levels is None:
        places, n_places = np.searchsorted(edges, present, side="right"), len(edges) + 1
    else:
        places, n_places = present.astype(np.int64), n_levels
    found = np.bincount(places, minlength=n_places)
    return np.append(found, len(column) - len(present)).astype(np.int32)


def counted_class(n_classes: int) -> int:
    """The class whose probability is counted: the second of two; −1, the most probable one, of more."""
    return 1 if n_classes == 2 else -1


def judged_of(posterior: Floats, code: int) -> Floats:
    """(N,) the probability that is counted."""
    found: Floats = posterior.max(axis=1) if code < 0 else posterior[:, code]
    return found


def count_held_out(posterior: Floats, parts: Sequence[Ints], code: int) -> HeldOutCounts | None:
    """Count held-out probabilities; `parts` are the places of each part's rows."""
    parts = [part for part in parts if len(part)] or [np.arange(len(posterior))]
    judged = judged_of(posterior, code)
    edges = range_edges(np.sort(judged[~np.isnan(judged)]), N_LEVELS)
    if len(edges) == 0:
        return None
    counts = [counted(judged[part], edges, None)[:-1] for part in parts]
    means = [posterior[part].mean(axis=0) for part in parts]
    return HeldOutCounts(code, edges, np.array(counts), np.array(means))
