"""Candidates that are solved at once: their stages are penalties instead of rounds.

Everything is fitted without each part: the metric knows the classes, and would tell of held-out samples.
"""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from rebelboost.base.arrays import ByClass
from rebelboost.boosting.callbacks import Callback
from rebelboost.boosting.settings import Settings
from rebelboost.data.folds import Part
from rebelboost.data.samples import Samples
from rebelboost.learners import logistic
from rebelboost.learners.kernel import RIDGES, USUAL, WIDTH, System
from rebelboost.learners.logistic import Logistic, logistic_trees
from rebelboost.learners.smooth import typical
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.smooth import SmoothSimilarities
from rebelboost.model.trees import Trees
from rebelboost.selection.calibration import HeldOutScorer
from rebelboost.selection.candidates import Entry
from rebelboost.selection.distinct_points import DistinctPoints
from rebelboost.selection.runner import Attempt, Runner

SOME = 100
"""Number of points, drawn at random, whose distances to the others tell which are typical."""

FEW_TO_SOLVE = 500
"""With more samples, penalties are compared on the first part only: it tells enough, and solving takes time."""


class PenaltyRunner(Runner):
    """Fits what is solved at once without each part, and to all samples for the model."""

    stages: Sequence[float]
    """Penalties."""
    fits: list[dict[int, Ensemble]]
    """For each part, stage → terms."""

    @abstractmethod
    def solve(self, samples: Samples, stages: Sequence[int]) -> dict[int, Ensemble]:
        """Stage → the terms of some samples."""

    def fit_without(
        self,
        part: Part,
        number: int,
        bar: float,
        callbacks: Sequence[Callback],
        n_threads: int,
    ) -> Attempt:
        """Solve for the samples that the part keeps.

        On the first part, all penalties are tried; with many samples, only the best of them on further parts.
        """
        del number, bar, callbacks, n_threads
        samples, tried = self.judging.samples, range(len(self.stages))
        if self.fits and len(samples) > FEW_TO_SOLVE:
            tried = range(self.stage, self.stage + 1)
        fit = self.solve(samples.rows(part.kept), tried)
        held_out = samples.X[part.out]
        scores = np.full((len(self.stages), len(held_out), self.judging.n_outputs), np.nan)
        for stage, terms in fit.items():
            scores[stage] = terms.scores(held_out)
        return Attempt(part, fit, scores)

    @property
    def rounds(self) -> int:
        """One: everything is solved at once."""
        return 1

    def fit_all(self, callbacks: Sequence[Callback], n_threads: int) -> None:
        """Do nothing: the model is fitted to all samples anyway."""
        del callbacks, n_threads

    def summands(self) -> list[Ensemble]:
        """A fit to all samples at the chosen stage."""
        return [self.solve(self.judging.samples, [self.stage])[self.stage]]

    def merged_fits(self) -> list[Ensemble]:
        """The fits without each part; none if they were forgotten."""
        return [fit[self.stage] for fit in self.fits]


class KernelRunner(PenaltyRunner):
    """Fits a kernel machine."""

    def __init__(self, entry: Entry, judging: HeldOutScorer) -> None:
        super().__init__(entry, judging)
        self.stages, self.stage = RIDGES, USUAL

    def solve(self, samples: Samples, stages: Sequence[int]) -> dict[int, Ensemble]:
        """Stage → the kernel machine of some samples."""
        return machines(samples, self.settings, stages)


class LogisticRunner(PenaltyRunner):
    """Fits a logistic regression."""

    def __init__(self, entry: Entry, judging: HeldOutScorer) -> None:
        super().__init__(entry, judging)
        self.stages, self.stage = logistic.PENALTIES, logistic.USUAL
        self.whole: list[Ensemble] = []
        """The fit to all samples."""

    def solve(self, samples: Samples, stages: Sequence[int]) -> dict[int, Ensemble]:
        """Stage → the trees of some samples, each with one split."""
        learner = self.settings.learner
        assert isinstance(learner, Logistic)
        found = logistic_trees(samples, learner, stages)
        return {stage: Ensemble.of([trees], samples.n_classes) for stage, trees in found}

    def summands(self) -> list[Ensemble]:
        """A fit to all samples at the chosen stage."""
        self.whole = super().summands()
        return self.whole

    def merged_fits(self) -> list[Ensemble]:
        """The fits without each part, less the constant of the model, which counts for all parts."""
        return [fit.plus(-_constant(each)) for fit in super().merged_fits() for each in self.whole]


def _constant(fit: Ensemble) -> ByClass:
    """(K,) what the trees without a split add."""
    total = np.zeros(fit.n_classes)
    for _, trees in fit.of_kind(Trees):
        total += trees.outputs[trees.leaf_offsets[trees.depths == 0]].sum(axis=0)
    return total


def machines(samples: Samples, settings: Settings, stages: Sequence[int]) -> dict[int, Ensemble]:
    """Stage → the kernel machine of some samples."""
    found = DistinctPoints(samples, settings)
    n = min(settings.learner.examples, len(found.placed))  # type: ignore[attr-defined]
    mass = found.mass(found.weighted(np.ones(len(samples))))[:n]
    heavy = np.flatnonzero(mass.sum(axis=1) > 0)
    points = found.placed[heavy]
    distances = np.ascontiguousarray(found.distances_from(points)[:, heavy])
    tau = WIDTH * typical(distances[:SOME])
    system = System.of(tau, distances, mass[heavy])
    return {
        stage: Ensemble.of(
            [
                SmoothSimilarities.one(
                    found.space,
                    found.rows[heavy],
                    points,
                    tau,
                    system.solve(RIDGES[stage]),
                    names_rows=True,
                )
            ],
            samples.n_classes,
        )
        for stage in stages
    }
