"""Fits of one candidate without parts of the samples, and its scores of the held-out samples."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Ints, Scores, Values
from rebelboost.boosting.callbacks import Callback
from rebelboost.boosting.fit import follow, train
from rebelboost.boosting.rounds import History, Round
from rebelboost.boosting.state import State
from rebelboost.data.folds import Part, divided
from rebelboost.model.ensemble import Ensemble, weighted_sum
from rebelboost.model.queries import Queries
from rebelboost.selection.candidates import Entry
from rebelboost.selection.judging import Found, Judging

N_STAGES = 16
"""Number of stages: numbers of rounds that are compared, spaced geometrically."""
LEAST_HOPE = 50
"""A fit stops when it has not improved for an eighth of the rounds, but at least this many."""

LOOKS = (25, 50, 100, 200, 400)
"""Numbers of rounds after which the learning curve of a fit is checked."""
DOUBLINGS = 2.0
"""Doublings of the rounds for which the last improvement is extrapolated. With one, two of the best candidates
on `vowel` were dropped.
"""


class Standing(NamedTuple):
    """Results of a candidate on held-out samples."""

    name: str
    """Name of the candidate."""
    rounds: int
    """Number of rounds."""
    share: float
    """Weight in the average; 0 if the candidate is not part of it."""
    log_loss: float
    """Mean log-loss; see `Judging.best_factor`."""
    cost: float
    """Mean cost of the decisions, by expected cost; the root mean squared error in a regression."""
    n_parts: int
    """Number of folds it was fitted on; fewer than the others if it was dropped."""
    shrinkage: float
    """Its shrinkage."""


class Runner(ABC):
    """A candidate: its scores of the samples that each of its fits left out."""

    stages: Sequence[Any]
    """What the fits are compared at: numbers of rounds, or other settings."""

    def __init__(self, entry: Entry, judging: Judging) -> None:
        self.name, self.settings = entry
        self.judging = judging
        self.runs: list[int] = []
        """The number of each fit in the history; none for fits without rounds."""
        self.judges: list[BySample] = []
        """(N,) shares of the samples that each fit has left out."""
        self.scores: list[Floats] = []
        """(stages, M, K) scores of these samples; NaN at stages that were not tried."""
        self.found = Found(1.0, math.inf)
        """The best factor of the scores at the chosen stage, and the log-loss."""
        self.share = 0.0
        self.given_up = False
        self.seconds = 0.0
        """Duration of the last fit."""
        self.stage = 0
        """Index of the stage with the lowest held-out log-loss."""

    @abstractmethod
    def fit_without(
        self, part: Part, history: History, callbacks: Sequence[Callback], bar: float
    ) -> Floats:
        """Fit without what the part leaves out; return its (stages, M, K) scores.

        The fit may stop early if its log-loss is expected to stay above `bar`.
        """

    @abstractmethod
    def forget_last_fit(self) -> None:
        """Forget the last fit, which was stopped before its end."""

    @abstractmethod
    def fit_all(self, history: History, callbacks: Sequence[Callback]) -> None:
        """Replace the fits by one on all samples, at the chosen stage."""

    @property
    @abstractmethod
    def rounds(self) -> int:
        """The chosen number of rounds."""

    @abstractmethod
    def ensemble(self) -> tuple[Ensemble, list[Ints]]:
        """Mean of the fits at the chosen stage, and for each run the places of its terms."""

    # ---- judging

    def fit(
        self,
        part: Part,
        history: History,
        callbacks: Sequence[Callback],
        bar: float = math.inf,
    ) -> None:
        """Fit without what the part leaves out, score it, and evaluate."""
        began = time.monotonic()
        self.scores.append(self.fit_without(part, history, callbacks, bar))
        self.judges.append(part.out)
        if len(self.judges) == 1:
            self.choose_stage()
        else:  # until all parts are fitted, keep the stage of the first
            self.judge()
        self.seconds = time.monotonic() - began

    def drop_last_part(self) -> None:
        """Forget the last fit and its scores."""
        del self.judges[-1], self.scores[-1]
        self.forget_last_fit()
        self.judge()

    @property
    def n_parts(self) -> int:
        """Number of parts that were left out so far."""
        return len(self.judges)

    def choose_stage(self) -> None:
        """Find the stage with the lowest log-loss, on all held-out samples."""
        judged, found = self.judged, self._all_scores()
        losses = [
            judged.best_factor(scores, rough=True).log_loss if is_tried else math.inf
            for scores, is_tried in zip(found, self.tried(found), strict=True)
        ]
        self.stage = int(np.argmin(losses))
        self.judge()

    def tried(self, scores: Floats) -> NDArray[np.bool_]:
        """(stages,) those that all fits have scores for."""
        return np.array([np.isfinite(at_stage).all() for at_stage in scores])

    def judge(self) -> None:
        """Find the best factor and the log-loss at the chosen stage."""
        self.found = self.judged.best_factor(self.left_out)

    @property
    def judged(self) -> Judging:
        """(M,) the samples that fits have left out, part by part; all, where none could be."""
        outs = self.judges or [np.ones(len(self.judging.samples.labels))]
        return self.judging.left_out(outs)

    @property
    def left_out(self) -> Scores:
        """(M, K) held-out scores at the chosen stage."""
        return self._all_scores()[self.stage]

    @property
    def scores_by_stage(self) -> Floats:
        """(stages, M, K) held-out scores after parts of the terms; without rounds, after all of them only."""
        return self.left_out[np.newaxis]

    def _all_scores(self) -> Floats:
        """(stages, M, K): held-out scores at each stage."""
        if not self.scores:
            n_samples = len(self.judging.samples.labels)
            return np.zeros((len(self.stages), n_samples, self.judging.n_outputs))
        return np.concatenate(self.scores, axis=1)

    def standing(self) -> Standing:
        """Report the results."""
        return Standing(
            self.name,
            self.rounds,
            self.share,
            self.found.log_loss,
            self.judged.cost(self.left_out, self.found.factor),
            self.n_parts,
            self.settings.shrinkage,
        )


class BoostedRunner(Runner):
    """A candidate that is boosted; its stages are numbers of rounds."""

    def __init__(self, entry: Entry, judging: Judging) -> None:
        super().__init__(entry, judging)
        self.stages = _stages(self.settings.rounds)
        self.stage = len(self.stages) - 1
        self.parts: list[Ensemble] = []

    def fit_without(
        self, part: Part, history: History, callbacks: Sequence[Callback], bar: float
    ) -> Floats:
        """Boost, following the held-out samples."""
        settings = replace(self.settings, part=len(self.parts))
        held = divided(self.judging.samples, part.out)
        followed = follow(held, settings)
        hopeless = Hopeless(max(LEAST_HOPE, settings.rounds // 8))
        outlook = Outlook(followed.state, self.judging.left_out([part.out]), bar)
        fit = train(
            divided(self.judging.samples, part.kept),
            settings,
            history=history,
            callbacks=[*callbacks, hopeless, outlook],
            held=followed,
        )
        self.given_up = outlook.is_poor
        self.parts.append(fit)
        self.runs.append(history.n_fits - 1)
        return _scores_at(fit, held.X, self.stages, settings.n_threads)

    def forget_last_fit(self) -> None:
        """Forget the terms of the last fit, and its run."""
        del self.parts[-1], self.runs[-1]

    def tried(self, scores: Floats) -> NDArray[np.bool_]:
        """(stages,) those before the longest fit ended, and the next. Later ones have the same scores."""
        longest = max(map(len, self.parts), default=0)
        n_stages = 1 + sum(stage < longest for stage in self.stages)
        return np.arange(len(scores)) < n_stages

    @property
    def rounds(self) -> int:
        """The chosen number of rounds."""
        return int(self.stages[self.stage])

    @property
    def scores_by_stage(self) -> Floats:
        """(stages, M, K) held-out scores after each number of rounds, up to the chosen one."""
        return self._all_scores()[: self.stage + 1]

    def fit_all(self, history: History, callbacks: Sequence[Callback]) -> None:
        """Replace the fits by one on all samples, with the chosen number of rounds."""
        settings = replace(self.settings, rounds=self.rounds)
        self.parts = [train(self.judging.samples, settings, history=history, callbacks=callbacks)]
        self.runs = [history.n_fits - 1]

    def ensemble(self) -> tuple[Ensemble, list[Ints]]:
        """Mean of the fits, truncated to the chosen rounds, and the place of each fit's terms in it."""
        cut = [part.truncate(self.rounds) for part in self.parts]
        return weighted_sum(cut, [1 / len(cut)] * len(cut))


class Hopeless:
    """Stops when neither the held-out loss nor the cost of held-out decisions has fallen for many rounds.

    The exponential loss often rises early, because of a few samples that are confidently wrong, while the
    decisions and the posterior at a lower temperature still improve.
    """

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.least = [math.inf, math.inf]
        self.last = 0

    def on_round(self, record: Round) -> bool:
        """Compare both with their lowest values so far."""
        if record.held is None:
            return False
        now = [record.held.log_loss, record.held.cost]
        if now[0] < self.least[0] or now[1] < self.least[1]:
            self.last = record.index
        self.least = list(map(min, self.least, now))
        return record.index - self.last >= self.patience

    def on_end(self) -> None:
        """Do nothing."""


class Outlook:
    """Stops a fit whose held-out log-loss will stay above a bar, by extrapolating its learning curve.

    The rounds double from one check to the next. The last improvement is assumed to repeat for two more
    doublings, which is optimistic: with many classes, similarities start slowly and win late. On 39 data
    sets, this stopped 28 of the 42 similarity fits that would have been dropped after the first fold, and
    one that had a weight of 1 %.
    """

    def __init__(self, state: State, judged: Judging, bar: float) -> None:
        self.state, self.judged, self.bar = state, judged, bar
        self.least = math.inf
        self.is_poor = False

    def on_round(self, record: Round) -> bool:
        """At some rounds, compute the log-loss, and extrapolate."""
        del record
        if math.isinf(self.bar) or self.state.n_terms not in LOOKS:
            return False
        before = self.least
        now = self.judged.best_factor(self.state.scores, rough=True).log_loss
        self.least = min(before, now)
        self.is_poor = self.least - DOUBLINGS * (before - self.least) > self.bar
        return self.is_poor

    def on_end(self) -> None:
        """Do nothing."""


def _stages(rounds: int) -> list[int]:
    return sorted({int(r) for r in np.rint(np.geomspace(min(5, rounds), rounds, N_STAGES))})


def _scores_at(ensemble: Ensemble, X: Values, stages: Sequence[int], n_threads: int) -> Floats:
    """(stages, N, K): scores after each number of terms, or after all terms if there are fewer."""
    queries, scores = Queries(X), np.zeros((len(X), ensemble.n_classes))
    at, done = [], 0
    for stage in stages:
        ensemble.add_scores(queries, scores, done, min(stage, len(ensemble)), n_threads)
        done = min(stage, len(ensemble))
        at.append(scores.copy())
    return np.stack(at)
