"""The interface of a task: what a fit has to ask about its target.

A fit is a task, rows and settings. Nothing but a task knows whether classes or numbers are predicted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Protocol

from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass
from rebelboost.boosting.objectives import Objective
from rebelboost.boosting.rounds import History
from rebelboost.boosting.settings import Recipe, Settings
from rebelboost.data.encoder import FeatureEncoder
from rebelboost.data.folds import folds
from rebelboost.data.samples import Samples
from rebelboost.learners.base import WeakLearner, traits_of
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import LearnedCosts, Provenance
from rebelboost.model.intervals import Intervals
from rebelboost.selection.calibration import HeldOutScorer
from rebelboost.selection.candidates import FREQUENCIES, Entry
from rebelboost.selection.cross_fit import Parts, Winner, winner
from rebelboost.selection.fit_pool import FitPool
from rebelboost.selection.result import CrossFit

RACES = ("auto", "auto_trees")
"""Learners that compare candidates."""


def is_race(learner: Any) -> bool:
    """Whether a learner stands for several candidates, which are compared."""
    return isinstance(learner, str) and learner in RACES


def named_learner(task: Any, given: Any) -> WeakLearner:
    """The learner that a name stands for, in a task."""
    found: WeakLearner = task.learners[given] if isinstance(given, str) else given
    return found


class Table(NamedTuple):
    """What a model keeps of the table that it is trained on."""

    encoder: FeatureEncoder
    names: NDArray[Any] | None
    """(d,) names of the features; None if the table has none."""
    n_threads: int = 1
    holds_distances: bool = False
    """Whether the table holds distances, which are not values of a row."""


class Found(NamedTuple):
    """Terms, and how their scores are read."""

    ensemble: Ensemble
    history: History
    decoder: Any
    """Turns scores into probabilities; None in a regression."""
    cross_fit: CrossFit | None = None
    intervals: Intervals | None = None
    """Prediction intervals of a regression."""
    offset: ByClass | None = None
    """(K,) what is to be added to the scores; None: nothing."""


class Task(Protocol):
    """What a target is: its losses, how held-out scores are judged, candidates, and the fitted model."""

    learners: ClassVar[Mapping[str, WeakLearner]]
    """Learners by name."""
    error_format: ClassVar[str]
    """Format of the error in progress lines."""
    parts_of_many: ClassVar[int]
    """How many of the folds a race leaves out by default, if there are many samples."""
    draws_by_value: ClassVar[bool]
    """Whether the samples of a round are drawn by their values, so that their order does not matter."""

    @staticmethod
    def loss_needs_all_rows(loss: Any) -> bool:
        """Whether all rows have to be in one place for a loss."""

    @property
    def objective(self) -> Objective:
        """The loss that is trained with."""

    @property
    def n_outputs(self) -> int:
        """Number of scores of a sample."""

    @property
    def is_constant(self) -> bool:
        """Whether there is nothing to learn."""

    def recipe(self, learner: WeakLearner) -> Recipe:
        """A learner with its settings where the user has chosen none."""

    def recipe_alone(self, learner: WeakLearner, n_distinct: Callable[[], int]) -> Recipe:
        """The same for a single fit to all samples; `n_distinct` counts them, equal ones once."""

    def n_folds(self, named: Any, learner: WeakLearner, samples: Samples) -> int:
        """Number of folds by default, for a learner as the user `named` it; 0: a single fit."""

    def trained_on(self, samples: Samples) -> Samples:
        """The samples of a single fit, with the costs that it is trained on."""

    def candidates(
        self, settings_of: Callable[[Recipe], Settings], samples: Samples
    ) -> list[Entry]:
        """Candidates of a race."""

    def check_averaged(self, learner: WeakLearner, samples: Samples) -> None:
        """Raise an error if a learner cannot be cross-fitted as the user asks."""

    def scorer(self, samples: Samples, table: Table, n_threads: int) -> HeldOutScorer:
        """Judges held-out scores of a cross-fit."""

    def deadline_of_race(self, deadline: float) -> float:
        """When a cross-fit ends, if training ends at a deadline."""

    def alone(self, ensemble: Ensemble, history: History) -> Found:
        """The result of a single fit."""

    def averaged(
        self, found: CrossFit, scorer: HeldOutScorer, settings: Settings, deadline: float
    ) -> Found:
        """The result of a cross-fit; `settings` are those of the candidate with most rounds."""

    def chosen(self, found: Found, choice: "Choice") -> Found:
        """A single fit of the candidate that was best on some samples, calibrated by these."""

    def calibrated(self, found: Found, held: Samples) -> Found:
        """A single fit, calibrated by samples that were held out of it."""

    def decided_alone(self, *, racing: bool) -> "Task":
        """The task of one model, if not all rows are in memory; its settings may be chosen by `racing`."""

    def n_parts_of_sample(self, n_samples: int) -> int:
        """How many folds of a sample of the rows are left out, to compare candidates."""

    def model(
        self,
        table: Table,
        found: Found,
        provenance: Provenance,
        facts: Callable[[Any], dict[str, float]],
        learn_costs: Callable[[], LearnedCosts | None],
    ) -> Any:
        """The fitted model. `facts` are what guarantees need to know of the training samples.

        `learn_costs` learns what decisions cost from costs by sample, if the samples are in memory.
        """


# ---- the race, if not all rows are in memory: candidates are compared on some, and the best is fitted to all

N_FOLDS = 5


class Choice(NamedTuple):
    """The candidate that was best on some of the rows."""

    winner: Winner
    samples: Samples
    """The rows."""
    most: Settings
    """Settings of the candidate with most rounds."""

    def settings(self, *, stops_early: bool) -> Settings:
        """Settings of the fit to all rows; with the number of rounds that was best, unless it stops early."""
        chosen = self.winner.settings
        return chosen if stops_early else replace(chosen, rounds=self.winner.rounds)


def race_on_some(
    task: Task, samples: Samples, table: Table, running: Sequence[Entry], *, only_trees: bool
) -> Choice | None:
    """Compare candidates on some rows, and choose the best; None if there are too few rows.

    Only learners that can search rows in several blocks take part.
    """
    running = [
        each
        for each in running
        if each.name != FREQUENCIES
        and traits_of(each.settings.learner).searches_blocks
        and not (only_trees and traits_of(each.settings.learner).compares_rows)
    ]
    most = max((each.settings for each in running), key=lambda each: each.rounds)
    left_out = folds(samples, N_FOLDS, most.seed)[: task.n_parts_of_sample(len(samples))]
    if not left_out:
        return None
    scorer = task.scorer(samples, table, most.n_threads)
    # Rounds are chosen on the parts that are left out: nothing else stops these fits.
    running = [each._replace(settings=replace(each.settings, patience=None)) for each in running]
    found = winner(scorer, running, Parts(left_out), FitPool(most.n_threads))
    kept = replace(found.settings, patience=most.patience)
    return Choice(found._replace(settings=kept), samples, most)
