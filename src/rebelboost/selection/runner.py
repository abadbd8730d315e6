"""Fits of one candidate without parts of the samples, and its scores of the held-out samples."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, Floats, Ints, Scores
from rebelboost.boosting.callbacks import Callback
from rebelboost.boosting.fit import follow, train
from rebelboost.boosting.rounds import History
from rebelboost.data.folds import Mask, Part
from rebelboost.model.ensemble import Ensemble, weighted_sum
from rebelboost.model.trees import Trees
from rebelboost.rows.base import MemoryRows
from rebelboost.selection.calibration import ClassScorer, Found, HeldOutScorer
from rebelboost.selection.candidates import Entry
from rebelboost.selection.fold_callbacks import (
    EARLY,
    LEAST_HOPE,
    Kept,
    LearningCurveStop,
    NoImprovement,
    stages_of,
)
from rebelboost.selection.result import Standing

FEW = 350
"""With fewer samples, a fold says little, and fits take little time."""
FURTHER, FURTHER_FOR_FEW = 2, 6
"""Stages after the one chosen on the first fold up to which fits to further folds go on."""
MISSES = 2
"""The search for the best stage ends after this many stages in a row that are not better."""


class Attempt(NamedTuple):
    """A fit without a part of the samples."""

    part: Part
    fit: Any
    """Its terms, or what else the candidate keeps."""
    scores: Floats
    """(stages, M, K) scores of the samples that it left out; NaN at stages that were not tried."""
    history: History | None = None
    """Its rounds; None for fits without rounds."""
    found: dict[int, Found] = {}  # noqa: RUF012  (never changed)
    """Stage → the best factor and the log-loss there, as far as they were computed."""
    is_poor: bool = False
    """Whether it was stopped because its log-loss would have stayed above the bar."""
    seconds: float = 0.0
    """Duration."""
    early: Floats | None = None
    """(early rounds, M, K) scores of the same samples after fewer rounds than at the first stage."""


class Runner(ABC):
    """A candidate: its scores of the samples that each of its fits left out."""

    stages: Sequence[Any]
    """What the fits are compared at: numbers of rounds, or other settings."""

    def __init__(self, entry: Entry, judging: HeldOutScorer) -> None:
        self.name, self.settings = entry
        self.judging = judging
        self.fits: list[Any] = []
        """What is kept of each fit."""
        self.runs: list[int] = []
        """The number of each fit in the history; none for fits without rounds."""
        self.judges: list[Mask] = []
        """(N,) the samples that each fit has left out."""
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
        self._judged: HeldOutScorer | None = None
        self._place: Ints | None = None
        """(M',) the index of each left-out sample among the judged ones; None: the same."""

    def attempt(
        self,
        part: Part,
        number: int,
        bar: float,
        callbacks: Sequence[Callback] = (),
        n_threads: int = 1,
    ) -> Attempt:
        """Fit without what a part leaves out, and change nothing here: attempts may run side by side.

        `number` counts the parts. The fit may stop early if its log-loss is expected to stay above `bar`.
        """
        began = time.monotonic()
        attempt = self.fit_without(part, number, bar, callbacks, n_threads)
        return attempt._replace(seconds=time.monotonic() - began)

    @abstractmethod
    def fit_without(
        self,
        part: Part,
        number: int,
        bar: float,
        callbacks: Sequence[Callback],
        n_threads: int,
    ) -> Attempt:
        """Fit without what a part leaves out; see `attempt`."""

    @abstractmethod
    def fit_all(self, callbacks: Sequence[Callback], n_threads: int) -> History | None:
        """Add a fit to all samples, at the chosen stage; return its rounds."""

    def forget_fits(self) -> None:
        """Leave out of the average the fits so far."""
        self.fits, self.runs = [], []

    @property
    @abstractmethod
    def rounds(self) -> int:
        """The chosen number of rounds."""

    @abstractmethod
    def summands(self) -> list[Ensemble]:
        """The fits at the chosen stage, of which the candidate's model is the mean."""

    def merged_fits(self) -> list[Ensemble]:
        """The fits without each part, if `summands` merges them into one; none if it does not."""
        return []

    @property
    def n_bytes(self) -> int:
        """Bytes of the outputs of all fits; 0 if the average does not grow with their number."""
        return 0

    def ensemble(self) -> Ensemble:
        """Mean of the fits at the chosen stage."""
        summands = self.summands()
        return weighted_sum(summands, [1 / len(summands)] * len(summands))[0]

    # ---- judging

    def add(self, attempt: Attempt) -> None:
        """Take a fit over, and evaluate."""
        self.fits.append(attempt.fit)
        self.scores.append(attempt.scores)
        self.judges.append(attempt.part.out)
        self.given_up, self.seconds = attempt.is_poor, attempt.seconds
        self._judged = None
        if self.n_parts == 1:
            self._choose_first_stage(attempt.found)

    @property
    def n_parts(self) -> int:
        """Number of parts that were left out so far."""
        return len(self.judges)

    def _choose_first_stage(self, found: dict[int, Found]) -> None:
        """Find the stage with the lowest log-loss on the first part, of all stages."""
        tried = np.flatnonzero(self.tried())
        losses = [
            (found[stage] if stage in found else self._rough(stage)).log_loss
            for stage in tried.tolist()
        ]
        self.stage = int(tried[np.argmin(losses)])
        self.judge()

    def choose_stage(self) -> None:
        """Find the stage with the lowest log-loss on all held-out samples, from the present one on."""
        tried = self.tried()
        best, least = self.stage, self._rough(self.stage).log_loss
        for step in (-1, 1):
            stage, misses = best + step, 0
            while 0 <= stage < len(tried) and tried[stage] and misses < MISSES:
                log_loss = self._rough(stage).log_loss
                better = log_loss < least
                misses = 0 if better else misses + 1
                best, least = (stage, log_loss) if better else (best, least)
                stage += step
        self.stage = best
        self.judge()

    def _rough(self, stage: int) -> Found:
        return self.judged.best_factor(self._at(stage), rough=True, near=self.found.factor)

    def tried(self) -> NDArray[np.bool_]:
        """(stages,) those that all fits have scores for."""
        stages = range(len(self.stages))
        return np.array([np.isfinite(self._at(stage)).all() for stage in stages])

    def judge(self) -> None:
        """Find the best factor and the log-loss at the chosen stage."""
        self.found = self.judged.best_factor(self.left_out, near=self.found.factor)

    @property
    def judged(self) -> HeldOutScorer:
        """(M,) the samples that fits have left out, part by part; all, where none could be.

        Samples that several fits have left out are there once, in the order of the table.
        """
        if self._judged is None:
            outs = self.judges or [np.ones(len(self.judging.samples.labels), dtype=bool)]
            rows = np.concatenate([np.flatnonzero(out) for out in outs])
            once, place = np.unique(rows, return_inverse=True)
            self._place = None if len(once) == len(rows) else place
            self._judged = self.judging.take(rows if self._place is None else once)
        return self._judged

    def _by_sample(self, scores: Sequence[Floats]) -> Floats:
        """(…, M, K) scores of the samples that fits have left out, from (…, M', K) of each fit.

        Samples that several fits have left out have the mean of their scores: that is what the model, the mean
        of the fits, does for a new sample.
        """
        joined = np.concatenate(scores, axis=-2)
        n_judged = len(self.judged.samples.labels)
        if self._place is None:
            return joined
        order = np.argsort(self._place, kind="stable")
        starts = np.searchsorted(self._place[order], np.arange(n_judged))
        counts = np.diff(np.append(starts, len(order)))
        return np.add.reduceat(joined[..., order, :], starts, axis=-2) / counts[:, np.newaxis]

    @property
    def left_out(self) -> Scores:
        """(M, K) held-out scores at the chosen stage."""
        return self._at(self.stage)

    def _at(self, stage: int) -> Scores:
        """(M, K) held-out scores at a stage."""
        if not self.scores:
            return np.zeros((len(self.judging.samples.labels), self.judging.n_outputs))
        return self._by_sample([scores[stage] for scores in self.scores])

    @property
    def kept_rounds(self) -> list[int]:
        """Numbers of rounds after which scores are kept; none for candidates without rounds."""
        return []

    @property
    def scores_by_stage(self) -> Floats:
        """(stages, M, K) held-out scores after parts of the terms; without rounds, after all of them only."""
        return self.left_out[np.newaxis]

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

    fits: list[Ensemble]

    def __init__(self, entry: Entry, judging: HeldOutScorer) -> None:
        super().__init__(entry, judging)
        self.stages = stages_of(self.settings.rounds)
        self.stage = len(self.stages) - 1
        self.early: list[Floats] = []
        """(early rounds, M, K) scores of the samples that each fit has left out."""

    def add(self, attempt: Attempt) -> None:
        """Take a fit over with its early scores, and evaluate."""
        if attempt.early is not None:
            self.early.append(attempt.early)
        super().add(attempt)

    @property
    def kept_rounds(self) -> list[int]:
        """Numbers of rounds after which scores are kept: early ones, and the stages."""
        return [*(each for each in EARLY if each < self.stages[0]), *self.stages]

    def fit_without(
        self,
        part: Part,
        number: int,
        bar: float,
        callbacks: Sequence[Callback],
        n_threads: int,
    ) -> Attempt:
        """Boost, following the held-out samples.

        On the first part, their log-loss is computed after each stage. Fits to further parts have a few
        stages more than the one that was best on the first.
        """
        is_first = not self.fits
        further = FURTHER_FOR_FEW if len(part.out) < FEW else FURTHER
        last = len(self.stages) - 1
        last = last if is_first else min(self.stage + further, last)
        settings = replace(
            self.settings,
            part=number,
            rounds=self.stages[last],
            n_threads=n_threads,
            stages=tuple(self.kept_rounds),
        )
        followed = follow(self.judging.samples.rows(part.out), settings)
        kept = Kept(followed.state, self.stages)
        early = Kept(followed.state, self.kept_rounds[: -len(self.stages)])
        outlook = LearningCurveStop(
            followed.state, self.judging.take(np.flatnonzero(part.out)), self.stages, bar
        )
        watching = [early, kept, outlook] if is_first else [early, kept]
        patience = max(LEAST_HOPE, self.settings.rounds // 8)
        hopeless = NoImprovement(followed.state, self.stages, patience)
        history = History()
        fit = train(
            MemoryRows.of(self.judging.samples.rows(part.kept), n_threads),
            settings,
            history=history,
            callbacks=[*callbacks, hopeless, *watching],
            held=followed,
        )
        found = Attempt(part, fit, kept.scores, history, outlook.found, outlook.is_poor)
        return found._replace(early=early.scores) if early.stages else found

    def tried(self) -> NDArray[np.bool_]:
        """(stages,) those before the longest fit ended, and the next. Later ones have the same scores."""
        longest = max(map(len, self.fits), default=0)
        n_stages = 1 + sum(stage < longest for stage in self.stages)
        return np.arange(len(self.stages)) < n_stages

    @property
    def n_bytes(self) -> int:
        """Bytes of the outputs of all fits."""
        return sum(group.terms.outputs.nbytes for fit in self.fits for group in fit.groups)

    @property
    def rounds(self) -> int:
        """The chosen number of rounds."""
        return int(self.stages[self.stage])

    @property
    def scores_by_stage(self) -> Floats:
        """(stages, M, K) held-out scores after each of `kept_rounds`, up to the chosen number."""
        late = np.stack([self._at(stage) for stage in range(self.stage + 1)])
        return np.concatenate([self._by_sample(self.early), late]) if self.early else late

    def fit_all(self, callbacks: Sequence[Callback], n_threads: int) -> History:
        """Add a fit to all samples, with the chosen number of rounds."""
        settings = replace(
            self.settings, part=len(self.fits), rounds=self.rounds, n_threads=n_threads
        )
        history = History()
        rows = MemoryRows.of(self.judging.samples, n_threads)
        fit = train(rows, settings, history=history, callbacks=callbacks)
        self.fits.append(fit)
        return history

    def summands(self) -> list[Ensemble]:
        """The fits, truncated to the chosen rounds."""
        return [fit.truncate(self.rounds) for fit in self.fits]


# ---- class frequencies, where nothing can be learned from the features


class FrequencyRunner(Runner):
    """Gives every sample the same scores, by the class frequencies of the samples that a part keeps."""

    fits: list[ByClass]
    stages = (1,)

    def __init__(self, entry: Entry, judging: HeldOutScorer) -> None:
        super().__init__(entry, judging)
        assert isinstance(judging, ClassScorer)
        self._frequencies = judging.frequencies

    def fit_without(
        self,
        part: Part,
        number: int,
        bar: float,
        callbacks: Sequence[Callback],
        n_threads: int,
    ) -> Attempt:
        """Count the classes of the samples that the part keeps."""
        del number, bar, callbacks, n_threads
        scores = self._frequencies(part.kept)
        n_out = int(np.count_nonzero(part.out))
        return Attempt(part, scores, np.tile(scores, (1, n_out, 1)))

    @property
    def rounds(self) -> int:
        """One: there is nothing to boost."""
        return 1

    def fit_all(self, callbacks: Sequence[Callback], n_threads: int) -> None:
        """Count the classes of all samples."""
        del callbacks, n_threads
        everything: Mask = np.ones(len(self.judging.samples.labels), dtype=bool)
        self.fits.append(self._frequencies(everything))

    def summands(self) -> list[Ensemble]:
        """One constant term, the mean of the fits."""
        scores: ByClass = np.mean(self.fits, axis=0)
        return [Ensemble.of([Trees.constant(scores)], len(scores))]
