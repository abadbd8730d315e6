"""A candidate of smooth similarities: its stages are widths and penalties instead of rounds.

Points, distances and features are computed once for all parts: leaving samples out changes only their weight.
The features need no labels, so nothing of the held-out samples' classes enters a fit.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Indices, Ints, Outputs
from rebelboost.boosting.callbacks import Callback
from rebelboost.boosting.fit import one_linear_algebra_thread
from rebelboost.data.folds import Part
from rebelboost.data.point_set import coincident
from rebelboost.data.samples import NumberSamples
from rebelboost.data.spaces import fit_embedding
from rebelboost.learners.smooth_basis import (
    PENALTIES,
    STAGES,
    WIDTHS,
    Basis,
    class_path,
    make_basis,
    number_path,
)
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.smooth import SmoothSimilarities
from rebelboost.selection.candidates import Entry
from rebelboost.selection.judging import Judging
from rebelboost.selection.runner import Attempt, Runner

Solved = dict[int, Outputs]
"""Stage → coefficients."""


class SmoothRunner(Runner):
    """Fits smooth similarities without each part: with all settings at first, then with those near the best."""

    fits: list[Solved]

    def __init__(self, entry: Entry, judging: Judging) -> None:
        super().__init__(entry, judging)
        self.stages = STAGES
        self.stage = STAGES.index((1.0, 0.1))
        self.points = SmoothPoints(judging.samples, entry.settings)

    def fit_without(
        self,
        part: Part,
        number: int,
        bar: float,
        callbacks: Sequence[Callback],
        n_threads: int,
    ) -> Attempt:
        """Solve for the weights that the part keeps."""
        del number, bar, callbacks, n_threads
        near = range(len(STAGES)) if not self.fits else self._near()
        solved = self.points.solve(part.kept, near)
        rows = np.flatnonzero(part.out)
        scores = np.full((len(STAGES), len(rows), self.judging.n_outputs), np.nan)
        for stage, coefficients in solved.items():
            scores[stage] = self.points.scores(stage, coefficients)[rows]
        return Attempt(part, solved, scores)

    def _near(self) -> list[int]:
        """The chosen stage, and those of the same width with the next larger and smaller penalties."""
        first = self.stage // len(PENALTIES) * len(PENALTIES)
        of_width = range(first, first + len(PENALTIES))
        return [stage for stage in of_width if abs(stage - self.stage) <= 1]

    @property
    def rounds(self) -> int:
        """One: everything is solved at once."""
        return 1

    def fit_all(self, callbacks: Sequence[Callback], n_threads: int) -> None:
        """Solve for all samples at the chosen stage."""
        del callbacks, n_threads
        everything = np.ones(len(self.judging.samples.labels))
        self.fits = [self.points.solve(everything, [self.stage])]

    def ensemble(self) -> tuple[Ensemble, list[Ints]]:
        """One term with the mean of the fits' outputs, since all have the same features."""
        solved: Outputs = np.mean([fit[self.stage] for fit in self.fits], axis=0)
        term = self.points.term(self.stage, solved)
        return Ensemble.of([term], self.judging.n_outputs), []


class SmoothPoints:
    """Training samples as distinct points, and their features for each width."""

    def __init__(self, samples: Any, settings: Any) -> None:
        learner = settings.learner
        self.samples, self.n_threads = samples, settings.n_threads
        self.space = fit_embedding(
            samples.X, samples.labels, samples.categories, learner.scale, samples.weight
        )
        placed = self.space.place(samples.X)
        # An order by hash: independent of the order of rows, and its first points are a random choice.
        self.order, self.group = coincident(placed)
        first = np.flatnonzero(np.diff(self.group, prepend=-1))
        self.placed = placed[self.order[first]]
        self.examples: Indices = np.arange(min(learner.examples, len(first)), dtype=np.int32)
        self.rows = self._rows()[self.examples]
        laid = self.space.lay_out(self.placed)
        points, n_points = self.placed[self.examples], len(self.placed)
        found = self.space.distances(laid, points, self.rows, self.n_threads)
        self.distances = np.ascontiguousarray(found[:, :n_points])
        self._bases: dict[float, Basis] = {}

    def _rows(self) -> Indices:
        """(points,) the first row of the user's table at each point."""
        rows = np.full(self.group[-1] + 1, np.iinfo(np.int64).max)
        np.minimum.at(rows, self.group, self.samples.rows_of_table[self.order])
        return rows.astype(np.int32)

    def basis(self, width: float) -> Basis:
        """Features of a width."""
        if width not in self._bases:
            with one_linear_algebra_thread():
                among = self.distances[:, self.examples]
                self._bases[width] = make_basis(width, self.distances, among)
        return self._bases[width]

    def solve(self, share: BySample, stages: Sequence[int]) -> Solved:
        """Coefficients at some stages, for shares of the samples' weight."""
        weight = share if self.samples.weight is None else share * self.samples.weight
        found: Solved = {}
        for i, width in enumerate(WIDTHS):
            own = [stage for stage in stages if stage // len(PENALTIES) == i]
            if own:
                penalties = tuple(STAGES[stage][1] for stage in own)
                with one_linear_algebra_thread():
                    found |= dict(zip(own, self._path(width, weight, penalties), strict=True))
        return found

    def _path(self, width: float, weight: BySample, penalties: tuple[float, ...]) -> list[Outputs]:
        basis = self.basis(width)
        if isinstance(self.samples, NumberSamples):
            mass = self._sums(weight)
            sums = self._sums(weight * self.samples.target)
            target = np.divide(sums, mass, out=np.zeros_like(sums), where=mass > 0)
            return list(number_path(basis, target, mass, penalties))
        classes = range(self.samples.n_classes)
        mass = np.stack([self._sums(weight * (self.samples.labels == k)) for k in classes], axis=1)
        return list(class_path(basis, mass, penalties))

    def _sums(self, values: BySample) -> BySample:
        """(points,) sums over the samples at each point, in an order that depends on the values only."""
        in_order = values[self.order]
        sorted_ = np.lexsort((in_order, self.group))
        sums = np.bincount(self.group[sorted_], in_order[sorted_], len(self.placed))
        return sums.astype(np.float64)

    def scores(self, stage: int, solved: Outputs) -> Floats:
        """(N, K) scores of all training samples."""
        of_points = self.basis(STAGES[stage][0]).scores(solved)
        found = np.empty((len(self.order), of_points.shape[1]))
        found[self.order] = of_points[self.group]
        return found

    def term(self, stage: int, solved: Outputs) -> SmoothSimilarities:
        """The term with these coefficients."""
        basis = self.basis(STAGES[stage][0])
        points = self.placed[self.examples]
        return SmoothSimilarities.one(
            self.space, self.rows, points, basis.tau, *basis.outputs(solved)
        )
