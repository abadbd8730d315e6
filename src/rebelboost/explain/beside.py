"""The training rows that a decision resembles most, with their values beside those of the sample."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rebelboost.base.arrays import Ints, Values
from rebelboost.explain.parts import is_same

if TYPE_CHECKING:
    from rebelboost.explain.explanation import ExampleShare, Explanation

FAR = 0.5
"""Numbers that differ by more than this many standard deviations of the stored training rows are marked."""
N_FOR, N_AGAINST = 2, 1
"""Number of rows that support the decision, and of rows that support the next best class."""


class Compared(NamedTuple):
    """A feature of the sample and of the training rows beside it."""

    name: str
    own: str
    """Value of the sample, as text."""
    others: tuple[tuple[str, bool], ...]
    """Value of each training row, and whether it differs."""


class Beside(NamedTuple):
    """A sample beside training rows."""

    examples: "tuple[ExampleShare, ...]"
    features: tuple[Compared, ...]
    """All features; those that contribute most to the decision come first."""


def beside(why: "Explanation") -> Beside | None:
    """Compare a sample with the rows that contribute most to its decision; None without their values.

    In a model without contributions of rows, these are the most similar rows of the decided class and of
    the others. A training row that is equal to the sample, such as the sample itself, is left out.
    """
    stored = why.speaker.rows.values
    known = [e for e in why.examples if e.row in stored and not is_same(why, e)]
    sizes = [float(why.toward(each.by_class)) for each in known]
    if not known:
        known = [e for e in why.similar if e.row in stored and not is_same(why, e)]
        sizes = [1.0 if each.of_class == why.decision else -1.0 for each in known]
    favour = [each for each, size in zip(known, sizes, strict=True) if size > 0][:N_FOR]
    against = [each for each, size in zip(known, sizes, strict=True) if size < 0][:N_AGAINST]
    chosen = (*favour, *against)
    if not chosen:
        return None
    values = [stored[each.row] for each in chosen]
    spread = _spread(np.asarray([*stored.values()], dtype=np.float64))
    rows = tuple(_compared(why, f, values, spread) for f in _order(why).tolist())
    return Beside(chosen, rows)


def _spread(values: Values) -> Values:
    """(d,) standard deviation of each feature over the stored rows, 0 if all values are missing."""
    there = ~np.isnan(values)
    n = np.maximum(there.sum(axis=0), 1)
    means = np.where(there, values, 0.0).sum(axis=0) / n
    return np.sqrt((np.where(there, values - means, 0.0) ** 2).sum(axis=0) / n)


def _order(why: "Explanation") -> Ints:
    """(d,) features, those with the largest contributions first."""
    strength = np.abs(why.toward(why.speaker.said.features[why.sample]))
    return np.argsort(-strength, kind="stable")


def _compared(why: "Explanation", f: int, values: Sequence[Values], spread: Values) -> Compared:
    wording, own = why.speaker.wording, float(why.x[f])

    def differs(other: float) -> bool:
        if np.isnan(own) or np.isnan(other):
            return bool(np.isnan(own) != np.isnan(other))
        if f in wording.levels:
            return own != other
        return abs(own - other) > FAR * float(spread[f])

    others = tuple((wording.cell(f, float(row[f])), differs(float(row[f]))) for row in values)
    return Compared(wording.names[f], wording.cell(f, own), others)
