"""What makes up a decision: contributions by feature and by class of similar training rows, and these rows.

A decision may depend on hundreds of training rows, each of which contributes little. Their contributions are
added up by class, so that a few parts make up most of the decision. The rows that it resembles most can be
shown beside it, with their values.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rebelboost.base.arrays import Ints, Values
from rebelboost.base.names import printed
from rebelboost.base.text import counted, whole_percent

if TYPE_CHECKING:
    from rebelboost.explain.explanation import ExampleShare, Explanation

MOST = 0.8
"""Share of all contributions that counts as most of the decision."""
N_NAMED = 2
"""Number of training rows that are named in the text of a part."""
FAR = 0.5
"""Numbers that differ by more than this many standard deviations of the stored training rows are marked."""
N_FOR, N_AGAINST = 2, 1
"""Number of rows that support the decision, and of rows that support the next best class."""


# ---- parts


class Summand(NamedTuple):
    """A part of the lead of the decided class over the next best."""

    size: float
    """Positive if it supports the decision."""
    what: str
    """In words: "petal length = 4.7", "similar to setosa: row 12, row 7 and 10 more"."""
    kind: str
    """One of "feature", "rows", "other" (wrapped classifiers), "rest" and "baseline"."""
    examples: "tuple[ExampleShare, ...]" = ()
    """Training rows of the part, strongest first."""


class Summands(NamedTuple):
    """The strongest parts, the sum of the others, and the baseline."""

    shown: list[Summand]
    rest: Summand | None
    baseline: Summand
    n_all: int
    """Number of parts, without the baseline."""
    covered: float
    """Share of those that are shown in the sum of all absolute contributions, without the baseline."""
    n_needed: int
    """Number of the strongest parts that cover 80 %."""

    def listed(self) -> list[Summand]:
        """All parts to print; they add up to the lead."""
        return [*self.shown, *([] if self.rest is None else [self.rest]), self.baseline]

    def coverage(self) -> str:
        """Say how much of the decision is shown and, if it is little, how many reasons are needed."""
        if self.rest is None:
            return ""
        n = len(self.shown)
        told = (
            f"{n} of {self.n_all} reasons, with {whole_percent(self.covered)} of all contributions"
        )
        return told if self.covered >= MOST else f"{told}; {self.n_needed} reasons have 80 %"


def parts_of(why: "Explanation", most: int | None = None) -> Summands:
    """Split the lead into parts; the strongest `most` are shown (`why.top` by default)."""
    every = [
        *(Summand(_size(why, each.by_class), each.shown, "feature") for each in why.features),
        *_of_rows(why),
        *(Summand(_size(why, each.by_class), each.what, "other") for each in why.others),
    ]
    every.sort(key=lambda part: -abs(part.size))
    n_shown = min(len(every), why.top if most is None else most)
    sums = np.cumsum([abs(part.size) for part in every])
    shares = sums / sums[-1] if every and sums[-1] > 0 else np.ones(len(every))
    whose = "an average training row" if why.features else "every sample"
    baseline = Summand(_size(why, why.baseline), f"baseline: {whose}", "baseline")
    return Summands(
        every[:n_shown],
        _rest(every[n_shown:]),
        baseline,
        len(every),
        float(shares[n_shown - 1]) if n_shown else 1.0,
        # The tolerance keeps rounding from asking for one reason more.
        int(np.searchsorted(shares, MOST - 1e-9)) + 1 if every else 0,
    )


def _size(
    why: "Explanation", by_class: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"
) -> float:
    return float(why.toward(by_class))


def is_same(why: "Explanation", example: "ExampleShare") -> bool:
    """Whether a training row has the same values as the sample; False if its values are unknown."""
    stored = why.builder.rows.values.get(example.row)
    return stored is not None and np.array_equal(stored, why.x, equal_nan=True)


def _of_rows(why: "Explanation") -> list[Summand]:
    """One part for each class of training rows, or one part if they have no classes."""
    by_class: dict[object, list[ExampleShare]] = {}
    for each in why.examples:
        by_class.setdefault(each.of_class, []).append(each)
    return [
        Summand(
            float(sum(_size(why, each.by_class) for each in own)),
            _resembles(why, of_class, own),
            "rows",
            tuple(own),
        )
        for of_class, own in by_class.items()
    ]


def _resembles(why: "Explanation", of_class: object, own: "list[ExampleShare]") -> str:
    names = ", ".join(
        f"row {printed(each.label)}" + (" (the same)" if is_same(why, each) else "")
        for each in own[:N_NAMED]
    )
    more = len(own) - N_NAMED
    whose = "training rows" if of_class is None else printed(of_class)
    return f"similar to {whose}: {names}{f' and {more:,} more' if more > 0 else ''}"


def _rest(others: list[Summand]) -> Summand | None:
    if not others:
        return None
    kinds = (("feature", "feature"), ("rows", "class of similar rows"), ("other", "classifier"))
    numbers = [(sum(part.kind == kind for part in others), name) for kind, name in kinds]
    told = [
        f"{n} other classes of similar rows"
        if name.startswith("class of") and n > 1
        else counted(n, f"other {name}")
        for n, name in numbers
        if n
    ]
    return Summand(float(sum(part.size for part in others)), " and ".join(told), "rest")


# ---- training rows beside the sample


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
    stored = why.builder.rows.values
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
    strength = np.abs(why.toward(why.builder.said.features[why.sample]))
    return np.argsort(-strength, kind="stable")


def _compared(why: "Explanation", f: int, values: Sequence[Values], spread: Values) -> Compared:
    wording, own = why.builder.wording, float(why.x[f])

    def differs(other: float) -> bool:
        if np.isnan(own) or np.isnan(other):
            return bool(np.isnan(own) != np.isnan(other))
        if f in wording.levels:
            return own != other
        return abs(own - other) > FAR * float(spread[f])

    others = tuple((wording.cell(f, float(row[f])), differs(float(row[f]))) for row in values)
    return Compared(wording.names[f], wording.cell(f, own), others)
