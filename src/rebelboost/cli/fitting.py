"""Fit the model of `rebel train`, and evaluate it on rows that it has not seen."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rebelboost import RebelClassifier, RebelRegressor
from rebelboost.cli.costs import CostTable
from rebelboost.cli.inputs import AnyEvaluation
from rebelboost.cli.render import Output
from rebelboost.evaluation.evaluate import evaluate, left_out
from rebelboost.evaluation.importance import HeldOutImportance, held_out_importance
from rebelboost.evaluation.numbers import evaluate_numbers, left_out_numbers
from rebelboost.tables.apart import LeaveOut
from rebelboost.tables.leaks import Leak, best_alone
from rebelboost.tables.schema import TrainingTable
from rebelboost.tasks.base import is_race
from rebelboost.tasks.classes import CROSS_FITTED

HELD_OUT = 0.2
"""Share of the rows that are held out to evaluate a model that was not cross-validated in training."""
FEWEST_TO_HOLD_OUT = 10
"""Tables with fewer rows are not evaluated."""
HELD_OUT_ROWS = "{} of the table, held out from a separate fit"


class TrainingOptions(NamedTuple):
    """Options of the training; None stands for the estimator's default."""

    learner: str = "auto"
    rounds: int | None = None
    time_budget: float | None = None
    seed: int | None = None
    threads: int | None = None
    positive: str | None = None
    """Of two classes, the one that figures are about."""

    def metadata(self) -> dict[str, Any]:
        """What the model keeps of these options."""
        return {} if self.positive is None else {"positive": self.positive}


class Job(NamedTuple):
    """What is to be trained."""

    samples: TrainingTable
    costs: CostTable | None
    settings: TrainingOptions
    numbers: bool
    """Whether numbers are predicted, not classes."""

    @property
    def is_cross_fitted(self) -> bool:
        """Whether training evaluates the model on left-out rows."""
        if self.numbers:
            return is_race(self.settings.learner)
        has_costs = self.costs is not None and not self.costs.is_uniform
        return has_costs or self.settings.learner in CROSS_FITTED


class Trained(NamedTuple):
    """A trained model, its evaluation and its training time."""

    model: Any
    evaluation: AnyEvaluation | None
    seconds: float
    importance: Sequence[HeldOutImportance] | None = None
    """Which features help on held-out rows; None if this is unknown."""
    alone: tuple[Leak, ...] = ()
    """The columns that decide the most rows rightly, each alone; empty if that is not known."""


def learn(job: Job, output: Output) -> Trained:
    """Fit and evaluate."""
    began = time.monotonic()
    samples, groups = job.samples, job.samples.apart.groups
    model = _estimator(job, output)
    model.fit(samples.frame, samples.y, groups=groups, times=samples.apart.times)
    model.metadata_ = job.settings.metadata()
    seconds = time.monotonic() - began
    evaluation: AnyEvaluation | None
    if job.numbers:
        evaluation = left_out_numbers(model, samples.y, groups=groups)
    else:
        evaluation = left_out(model, samples.y, X=samples.frame, groups=groups)
    if evaluation is None:
        evaluation = _held_out(job, output)
    importance = held_out_importance(model, samples.frame, samples.y)
    alone = [] if job.numbers else best_alone(samples.frame.iter_columns(), samples.y, groups)
    return Trained(model, evaluation, seconds, importance, tuple(alone))


def _estimator(job: Job, output: Output) -> Any:
    settings = job.settings
    given: dict[str, Any] = {
        "n_rounds": settings.rounds,
        "random_state": settings.seed,
        "costs": None if job.costs is None else job.costs.given,
        "time_budget": _budget(job),
    }
    kind: Any = RebelRegressor if job.numbers else RebelClassifier
    return kind(
        settings.learner,
        n_jobs=settings.threads or -1,
        verbose=int(output.is_watched),
        **{name: value for name, value in given.items() if value is not None},
    )


def _budget(job: Job) -> float | None:
    """Seconds for a fit: half of the time budget, if another fit is needed to evaluate the model."""
    seconds = job.settings.time_budget
    return None if seconds is None else seconds / (1 if job.is_cross_fitted else 2)


def _held_out(job: Job, output: Output) -> AnyEvaluation | None:
    """Evaluate a fit to four fifths of the rows on the others; None if there are too few rows."""
    samples, apart = job.samples, job.samples.apart
    strata = np.zeros(len(samples.y)) if job.numbers else samples.y
    out = held_out_rows(strata, job.settings.seed or 0, apart)
    if not out.any() or len(np.unique(strata[~out])) < len(np.unique(strata)):
        return None
    output.step("evaluating: fitting to four fifths of the rows, to be tested on the other fifth")
    first = _estimator(job, output)
    first.fit(samples.frame.filter(~out), samples.y[~out])
    first.metadata_ = job.settings.metadata()
    source = HELD_OUT_ROWS.format(_which(apart))
    groups = None if apart.groups is None else apart.groups[out]
    test = evaluate_numbers if job.numbers else evaluate
    found: AnyEvaluation = test(
        first, samples.frame.filter(out), samples.y[out], groups=groups, source=source
    )
    return found


def _which(apart: LeaveOut) -> str:
    if apart.time:
        return f"the latest fifth by {apart.time}"
    return f"a random fifth of the values of {apart.group}" if apart.group else "a random fifth"


Mask = np.ndarray[Any, np.dtype[np.bool_]]


def held_out_rows(y: np.ndarray[Any, Any], seed: int, apart: LeaveOut | None = None) -> Mask:
    """Select a fifth of the rows, as new ones will come; shape (N,)."""
    if len(y) < FEWEST_TO_HOLD_OUT:
        return np.zeros(len(y), dtype=bool)
    rng = np.random.default_rng(seed)
    if apart is not None and apart.times is not None:
        return np.asarray(apart.times > np.quantile(apart.times, 1 - HELD_OUT, method="lower"))
    if apart is not None and apart.groups is not None:
        names = rng.permutation(np.unique(apart.groups))
        return np.isin(apart.groups, names[: max(1, int(HELD_OUT * len(names)))])
    return _fifth_of_classes(y, rng)


def _fifth_of_classes(y: np.ndarray[Any, Any], rng: np.random.Generator) -> Mask:
    """Select a random fifth of each class, but never all of its rows."""
    out = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        n = min(int(HELD_OUT * len(rows) + rng.uniform()), len(rows) - 1)
        out[rows[:n]] = True
    return out
