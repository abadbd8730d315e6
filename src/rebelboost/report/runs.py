"""The fits that a model is made of, as its history tells them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rebelboost.callbacks import Round
from rebelboost.guarantee import runs as parted
from rebelboost.report.charts import thinned
from rebelboost.report.subject import Subject
from rebelboost.risk import CAP
from rebelboost.shapes import Floats
from rebelboost.theory import loss_ratio_bound

Bounds = dict[int, float] | None
"""Ln of the loss at most, by the identity of a round's record."""
ROUNDING = 1e-6
"""Of logarithms of losses: so far may a loss be above its bound."""
SLOW = 0.1
"""Shrinkage of the slower members of a blend."""


@dataclass(frozen=True)
class Run:
    """The rounds of one fit."""

    rounds: Sequence[Round]
    member: int
    """Which of the blend's kinds of fits."""
    name: str
    """Of that kind."""
    bounds: Bounds

    def bound(self, record: Round) -> float:
        """Of the loss after a round."""
        return math.nan if self.bounds is None else exp(self.bounds[id(record)])

    def line(self, of: Callable[[Round], float]) -> tuple[Floats, Floats]:
        """Rounds from 1, and values, as far as they are numbers; not too many."""
        values = np.array([of(self.rounds[i]) for i in thinned(len(self.rounds))])
        at = np.array(thinned(len(self.rounds)), dtype=np.float64) + 1
        fine = np.isfinite(values)
        return at[fine], values[fine]


def exp(ln: float) -> float:
    """NaN where it would leave floating point's range."""
    return math.exp(ln) if -600 < ln < 600 else math.nan


def runs_of(subject: Subject) -> list[Run]:
    """Part the history where a new fit begins, and tell which kind of fit each is."""
    found = parted(list(getattr(subject.clf, "history_", ())))
    members = _members(subject.clf.cross_fit_, len(found))
    standings = getattr(subject.clf.cross_fit_, "standings", ())
    return [
        Run(
            rounds,
            member,
            standings[member].name if standings else f"{member + 1}: {_kind(rounds)}",
            _bounds(subject.clf, rounds),
        )
        for rounds, member in zip(found, members, strict=True)
    ]


def _members(cross_fit: Any, n_runs: int) -> list[int]:
    """In a race all candidates run first; those that go on then take turns, part by part."""
    standings = getattr(cross_fit, "standings", ())
    first = list(range(len(standings)))
    later = [i for i in first if standings[i].n_parts > 1] or [
        i for i in first if standings[i].share > 0
    ]
    if standings and n_runs >= len(first) and (n_runs - len(first)) % len(later) == 0:
        return [
            i if i < len(first) else later[(i - len(first)) % len(later)] for i in range(n_runs)
        ]
    # Without a race, the fits of one kind follow one another.
    each = max(1, n_runs // (len(getattr(cross_fit, "rounds", ())) or 1))
    return [0 if standings else i // each for i in range(n_runs)]


def _kind(rounds: Sequence[Round]) -> str:
    depths = [getattr(record.hypothesis, "depth", None) for record in rounds]
    deep = max((depth for depth in depths if depth), default=None)
    if deep is not None:
        return f"trees of depth {deep}"
    return "comparisons" if _compares(rounds) else "fits"


def _compares(rounds: Sequence[Round]) -> bool:
    return any(getattr(record.hypothesis, "examples", ()) for record in rounds)


def _bounds(clf: Any, rounds: Sequence[Round]) -> Bounds:
    """What the loss cannot exceed after each round, by the edges; None where it did."""
    first = rounds[0]
    if first.loss_ratio <= 0:
        return None
    start = first.log_loss - math.log(first.loss_ratio)
    own = clf._learner().shrinkage if clf.shrinkage == "auto" else clf.shrinkage
    if _compares(rounds) and clf.shrinkage == "auto":
        own = 1.0
    losses = np.array([record.log_loss for record in rounds])
    for shrinkage in (own,) if clf.cross_fit_ is None else (own, min(own, SLOW)):
        left = loss_ratio_bound([record.edge for record in rounds], shrinkage, CAP)
        with np.errstate(divide="ignore"):
            bounds = start + np.cumsum(np.log(left))
        if np.all(losses <= bounds + ROUNDING):
            return dict(zip(map(id, rounds), bounds.tolist(), strict=True))
    return None
