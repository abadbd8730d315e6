"""Split the history of a model into the rounds of its fits."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.boosting.rounds import Round
from rebelboost.estimators.fitting import shrinkage_of
from rebelboost.losses.exponential import CAP
from rebelboost.report.charts import thinned
from rebelboost.report.subject import Subject
from rebelboost.theory.bounds import loss_ratio_bound
from rebelboost.theory.guarantee import runs as parted

Bounds = dict[int, float] | None
"""Upper bound of ln(loss), by the id of a round's record."""
ROUNDING = 1e-6
"""Tolerance for rounding when ln(loss) is compared with its bound."""


@dataclass(frozen=True)
class Run:
    """The rounds of one fit."""

    rounds: Sequence[Round]
    member: int
    """Number of the candidate model that the fit belongs to."""
    name: str
    """Name of that candidate."""
    bounds: Bounds

    def bound(self, record: Round) -> float:
        """Return the upper bound of the loss after a round."""
        return math.nan if self.bounds is None else exp(self.bounds[id(record)])

    def line(self, of: Callable[[Round], float]) -> tuple[Floats, Floats]:
        """Return rounds, from 1, and their values; thinned, without values that are not finite."""
        values = np.array([of(self.rounds[i]) for i in thinned(len(self.rounds))])
        at = np.array(thinned(len(self.rounds)), dtype=np.float64) + 1
        fine = np.isfinite(values)
        return at[fine], values[fine]


def exp(ln: float) -> float:
    """Return exp(ln), or NaN if it is out of range."""
    return math.exp(ln) if -600 < ln < 600 else math.nan


def runs_of(subject: Subject) -> list[Run]:
    """Split the history into fits, and find the candidate of each."""
    clf = subject.clf
    found = parted(list(getattr(clf, "history_", ())))
    if clf.cross_fit_ is None:
        return [
            Run(rounds, 0, "", _bounds(rounds, shrinkage_of(clf, clf.task_kind)))
            for rounds in found
        ]
    standings, runs = clf.cross_fit_.standings, clf.cross_fit_.runs
    return [
        Run(rounds, i, standings[i].name, _bounds(rounds, standings[i].shrinkage))
        for rounds, i in zip(found, runs, strict=False)
    ]


def _bounds(rounds: Sequence[Round], shrinkage: float) -> Bounds:
    """Return the bound of the loss after each round, from the edges; None if the loss exceeds it."""
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
