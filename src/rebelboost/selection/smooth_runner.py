"""A candidate of smooth similarities: its stages are widths and penalties instead of rounds.

Points, distances and features are computed once for all parts: leaving samples out changes only their weight.
The features need no labels, so nothing of the held-out samples' classes enters a fit.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Indices, Ints, Outputs
from rebelboost.boosting.callbacks import Callback
from rebelboost.data.folds import Part
from rebelboost.learners.smooth import (
    PENALTIES,
    STAGES,
    Basis,
    class_path,
    make_basis,
    regression_path,
    typical,
)
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.smooth import SmoothSimilarities
from rebelboost.selection.calibration import HeldOutScorer
from rebelboost.selection.candidates import Entry
from rebelboost.selection.distinct_points import DistinctPoints
from rebelboost.selection.runner import Attempt, Runner

Solved = dict[int, Outputs]
"""Stage → coefficients."""
MIDDLE = (1, 2)
"""Indices of the widths that are tried first. Held-out losses rarely have a second minimum beyond them."""


class SmoothRunner(Runner):
    """Fits smooth similarities without each part: with all settings at first, then with those near the best."""

    fits: list[Solved]

    def __init__(self, entry: Entry, judging: HeldOutScorer) -> None:
        super().__init__(entry, judging)
        self.stages = STAGES
        self.stage = STAGES.index((1.0, 0.1))
        self.points = SmoothPoints(judging.samples, entry.settings)
        self.has_parts = True

    def fit_without(
        self,
        part: Part,
        number: int,
        bar: float,
        callbacks: Sequence[Callback],
        n_threads: int,
    ) -> Attempt:
        """Solve for the weights that the part keeps: at first over the widths, then near the best stage."""
        del number, bar, callbacks, n_threads
        rows = np.flatnonzero(part.out)
        scores = np.full((len(STAGES), len(rows), self.judging.n_outputs), np.nan)
        solved: Solved = {}
        if self.fits:
            self._follow(part, self._near(), rows, solved, scores, rising=False)
        else:
            self._explore(part, rows, solved, scores)
        return Attempt(part, solved, scores)

    def _explore(self, part: Part, rows: Ints, solved: Solved, scores: Floats) -> None:
        """Solve for the middle widths, and for the one beyond the better of them."""
        least = {
            i: self._follow(part, _of_width(i), rows, solved, scores, rising=True) for i in MIDDLE
        }
        first, last = MIDDLE
        beyond = first - 1 if least[first] < least[last] else last + 1
        self._follow(part, _of_width(beyond), rows, solved, scores, rising=True)

    def _follow(
        self,
        part: Part,
        stages: Sequence[int],
        rows: Ints,
        solved: Solved,
        scores: Floats,
        *,
        rising: bool,
    ) -> float:
        """Solve for penalties of one width; with `rising`, until the held-out loss rises. Return the least."""
        judged = self.judging.take(rows) if rising else None
        least = math.inf
        for stage, coefficients in self.points.solve(part.kept.astype(np.float64), stages):
            solved[stage] = coefficients
            scores[stage] = self.points.scores(stage, coefficients, rows)
            if judged is not None:
                loss = judged.best_factor(scores[stage], rough=True).log_loss
                if loss > least:
                    break
                least = loss
        return least

    def _near(self) -> list[int]:
        """The chosen stage, and those of the same width with the next larger and smaller penalties."""
        of_width = _of_width(self.stage // len(PENALTIES))
        return [stage for stage in of_width if abs(stage - self.stage) <= 1]

    @property
    def rounds(self) -> int:
        """One: everything is solved at once."""
        return 1

    def fit_all(self, callbacks: Sequence[Callback], n_threads: int) -> None:
        """Solve for all samples at the chosen stage."""
        del callbacks, n_threads
        everything = np.ones(len(self.judging.samples.labels))
        self.fits.append(dict(self.points.solve(everything, [self.stage])))

    def summands(self) -> list[Ensemble]:
        """One term with the mean of the fits' outputs, since all have the same features."""
        solved: Outputs = np.mean([fit[self.stage] for fit in self.fits], axis=0)
        return [self._at_stage(solved)]

    def merged_fits(self) -> list[Ensemble]:
        """The fits without each part; none if they were forgotten for a fit to all samples."""
        kept = self.fits[: self.n_parts] if self.has_parts else []
        return [self._at_stage(fit[self.stage]) for fit in kept]

    def forget_fits(self) -> None:
        """Leave out of the average the fits so far."""
        super().forget_fits()
        self.has_parts = False

    def _at_stage(self, solved: Outputs) -> Ensemble:
        return Ensemble.of([self.points.term(self.stage, solved)], self.judging.n_outputs)


def _of_width(i: int) -> range:
    """The stages of a width."""
    return range(i * len(PENALTIES), (i + 1) * len(PENALTIES))


class SmoothPoints(DistinctPoints):
    """Training samples as distinct points, and their features for each width."""

    def __init__(self, samples: Any, settings: Any) -> None:
        super().__init__(samples, settings)
        self.examples: Indices = np.arange(
            min(settings.learner.examples, len(self.placed)), dtype=np.int32
        )
        self.rows = self.rows[self.examples]
        self.distances = self.distances_from(self.placed[self.examples])
        self.typical = typical(self.distances)
        self._bases: dict[float, Basis] = {}

    def basis(self, width: float) -> Basis:
        """Features of a width."""
        if width not in self._bases:
            among = self.distances[:, self.examples]
            self._bases[width] = make_basis(width * self.typical, self.distances, among)
        return self._bases[width]

    def solve(self, share: BySample, stages: Sequence[int]) -> Iterator[tuple[int, Outputs]]:
        """Coefficients at some stages of one width, for shares of the samples' weight."""
        weight = self.weighted(share)
        width, penalties = STAGES[stages[0]][0], tuple(STAGES[stage][1] for stage in stages)
        yield from zip(stages, self._path(width, weight, penalties), strict=True)

    def _path(
        self, width: float, weight: BySample, penalties: tuple[float, ...]
    ) -> Iterator[Outputs]:
        basis = self.basis(width)
        targets = self.samples.target
        if targets is not None:
            mass = self.sums(weight)
            sums = self.sums(weight * targets)
            target = np.divide(sums, mass, out=np.zeros_like(sums), where=mass > 0)
            return regression_path(basis, target, mass, penalties)
        return class_path(basis, self.mass(weight), penalties)

    def scores(self, stage: int, solved: Outputs, rows: Ints) -> Floats:
        """(M, K) scores of some training samples."""
        place = np.empty(len(self.order), dtype=np.int32)
        place[self.order] = self.group
        return self.basis(STAGES[stage][0]).scores(solved, place[rows])

    def term(self, stage: int, solved: Outputs) -> SmoothSimilarities:
        """The term with these coefficients."""
        basis = self.basis(STAGES[stage][0])
        points = self.placed[self.examples]
        return SmoothSimilarities.one(
            self.space, self.rows, points, basis.tau, basis.outputs(solved)
        )
