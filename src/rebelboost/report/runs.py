"""The fits that a model is made of, as its history tells them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.boosting.rounds import Round
from rebelboost.estimators.training import shrinkage_of
from rebelboost.losses.exponential import CAP
from rebelboost.report.charts import thinned
from rebelboost.report.subject import Subject
from rebelboost.theory.bounds import loss_ratio_bound
from rebelboost.theory.guarantee import runs as parted

Bounds = dict[int, float] | None
"""Ln of the loss at most, by the identity of a round's record."""
ROUNDING = 1e-6
"""Of logarithms of losses: so far may a loss be above its bound."""


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
    clf = subject.clf
    found = parted(list(getattr(clf, "history_", ())))
    if clf.cross_fit_ is None:
        return [Run(rounds, 0, "", _bounds(rounds, shrinkage_of(clf))) for rounds in found]
    standings, runs = clf.cross_fit_.standings, clf.cross_fit_.runs
    return [
        Run(rounds, i, standings[i].name, _bounds(rounds, standings[i].shrinkage))
        for rounds, i in zip(found, runs, strict=False)
    ]


def _bounds(rounds: Sequence[Round], shrinkage: float) -> Bounds:
    """What the loss cannot exceed after each round, by the edges; None where it did."""
    first = rounds[0]
    if first.loss_ratio <= 0:
        return None
    start = first.log_loss - math.log(first.loss_ratio)
    losses = np.array([record.log_loss for record in rounds])
    left = loss_ratio_bound([record.edge for record in rounds], shrinkage, CAP)
    with np.errstate(divide="ignore"):
        bounds = start + np.cumsum(np.log(left))
    if np.any(losses > bounds + ROUNDING):
        return None
    return dict(zip(map(id, rounds), bounds.tolist(), strict=True))
