"""Callbacks of fits to folds: they keep scores of held-out samples at each stage, and stop hopeless fits."""

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rebelboost.base.arrays import Floats, Scores
from rebelboost.boosting.rounds import RoundBatch
from rebelboost.boosting.state import State
from rebelboost.selection.calibration import Found, HeldOutScorer

LEAST_HOPE = 50
"""A fit stops when it has not improved for an eighth of the rounds, but at least this many."""
PAST, LEAST_PAST = 1.3, 20
"""A fit stops after this many times the rounds of its lowest log-loss, but not before so many rounds."""
FIRST_LOOK, FIRST_LOOK_BY_CLASS = 10, 2
"""Rounds after which a learning curve is first compared with a bar: so many, and so many for each class.

With many classes, similarities begin slowly and win late (`vowel`). Each next look is after twice the rounds.
"""

EARLY = (1, 2, 3)
"""Rounds after which scores are kept for cascades only, if the first stage is later."""


def stages_of(rounds: int) -> list[int]:
    """Numbers of rounds that are compared: 5, 10, 16, then a quarter more each, up to `rounds`."""
    tenths = (7, 10, *range(12, math.ceil(10 * math.log10(max(rounds, 1)))))
    return sorted({*(r for r in (round(10 ** (k / 10)) for k in tenths) if r < rounds), rounds})


class Kept:
    """Keeps the held-out scores after each stage."""

    may_wait: ClassVar[bool] = True

    def __init__(self, state: State, stages: Sequence[int]) -> None:
        self.state, self.stages = state, stages
        self._scores: list[Scores] = []

    def on_rounds(self, batch: RoundBatch) -> bool:
        """Keep the scores after a stage."""
        del batch
        reached = len(self._scores)
        if reached < len(self.stages) and self.state.n_terms == self.stages[reached]:
            self._scores.append(self.state.scores.copy())
        return False

    def on_end(self) -> None:
        """Do nothing."""

    @property
    def scores(self) -> Floats:
        """(stages, M, K) scores after each stage, or after all terms where the fit ended before it."""
        missing = len(self.stages) - len(self._scores)
        return np.stack([*self._scores, *[self.state.scores] * missing])


class NoImprovement:
    """Stops when neither the held-out loss nor the cost of held-out decisions has fallen for many rounds.

    The exponential loss often rises early, because of a few samples that are confidently wrong, while the
    decisions and the posterior at a lower temperature still improve. Fits stop after stages only.
    """

    may_wait: ClassVar[bool] = True

    def __init__(self, state: State, stages: Sequence[int], patience: int) -> None:
        self.state, self.stages, self.patience = state, frozenset(stages), patience
        self.least_log_loss = self.least_cost = math.inf
        self.last = 0

    def on_rounds(self, batch: RoundBatch) -> bool:
        """Compare both with their lowest values so far."""
        held = batch.held
        if held is None:
            return False
        for index, (log_loss, cost) in enumerate(held, batch.first_index):
            if log_loss < self.least_log_loss or cost < self.least_cost:
                self.last = index
                self.least_log_loss = min(self.least_log_loss, log_loss)
                self.least_cost = min(self.least_cost, cost)
        last = batch.first_index + len(batch) - 1
        return self.state.n_terms in self.stages and last - self.last >= self.patience

    def on_end(self) -> None:
        """Do nothing."""


class LearningCurveStop:
    """Stops a fit when its held-out log-loss has passed its lowest value, or will stay above a bar.

    The log-loss is that at the best temperature, after each stage. Whether it will stay above the bar is
    told by looks at which the rounds double: the last improvement is assumed to repeat once.
    """

    may_wait: ClassVar[bool] = True

    def __init__(
        self, state: State, judged: HeldOutScorer, stages: Sequence[int], bar: float
    ) -> None:
        self.state, self.judged, self.bar = state, judged, bar
        self.places = {rounds: stage for stage, rounds in enumerate(stages)}
        self.found: dict[int, Found] = {}
        """Stage → the best factor, and the log-loss."""
        self.is_poor = False
        self._best_rounds = 0
        self._least = math.inf
        self._least_at_look = math.inf
        self._next_look = max(FIRST_LOOK, FIRST_LOOK_BY_CLASS * judged.n_outputs)

    def on_rounds(self, batch: RoundBatch) -> bool:
        """After a stage, compute the log-loss, and compare it with those before and with the bar."""
        del batch
        rounds = self.state.n_terms
        if rounds not in self.places:
            return False
        log_loss = self._look(self.places[rounds])
        if log_loss < self._least:
            self._least, self._best_rounds = log_loss, rounds
        if rounds >= self._next_look:
            before, self._least_at_look = self._least_at_look, self._least
            self._next_look = 2 * rounds
            self.is_poor = 2 * self._least - before > self.bar
        return self.is_poor or rounds >= max(PAST * self._best_rounds, LEAST_PAST)

    def _look(self, stage: int) -> float:
        near = next(reversed(self.found.values()), Found(1.0, math.inf)).factor
        now = self.judged.best_factor(self.state.scores, rough=True, near=near)
        self.found[stage] = now
        return now.log_loss

    def on_end(self) -> None:
        """Do nothing."""
