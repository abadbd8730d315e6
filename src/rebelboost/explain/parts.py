"""The parts of a decision: contributions by feature and by the class of the training rows that it resembles.

A decision may depend on hundreds of training rows, each of which contributes little. Their contributions are
added up by class, so that a few parts make up most of the decision.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rebelboost.base.names import printed
from rebelboost.base.text import counted, whole_percent

if TYPE_CHECKING:
    from rebelboost.explain.explanation import ExampleShare, Explanation

MOST = 0.8
"""Share of all contributions that counts as most of the decision."""
N_NAMED = 2
"""Number of training rows that are named in the text of a part."""


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
    stored = why.speaker.rows.values.get(example.row)
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
