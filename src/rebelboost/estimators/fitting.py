"""One fit for both estimators: a task, samples and settings.

An estimator reads its input, and knows its task. What follows is the same for classes and numbers: fit once, or
several times on parts of the samples, and assemble the model.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rebelboost.boosting.callbacks import Callback, Deadline, Hearing, Progress
from rebelboost.boosting.fit import follow, train
from rebelboost.boosting.notebook import NotebookProgress, in_notebook
from rebelboost.boosting.rounds import History
from rebelboost.boosting.sampling import Sampling
from rebelboost.boosting.settings import Recipe, Settings
from rebelboost.data.equal_samples import n_distinct
from rebelboost.data.folds import held_out_part
from rebelboost.data.samples import Samples
from rebelboost.estimators.inputs import (
    encode_features,
    index_labels,
    missing_features,
    seed_of,
    threads_of,
)
from rebelboost.estimators.reading import Input
from rebelboost.learners.tree import Tree
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import Provenance
from rebelboost.rows.base import MemoryRows
from rebelboost.selection.blend import CrossFit
from rebelboost.selection.candidates import Entry
from rebelboost.selection.crew import Crew
from rebelboost.selection.race import n_parts_of, select
from rebelboost.selection.scale import settled
from rebelboost.tasks.base import Found, Task, is_race, named_learner
from rebelboost.tasks.cost_learning import learn_costs
from rebelboost.theory.facts import SampleUse, training_facts

Validation = tuple[Any, ArrayLike] | None


class Fit(NamedTuple):
    """A fitted model, and what is known of its fits."""

    model: Any
    history: History
    cross_fit: CrossFit | None


def shrinkage_of(estimator: Any, task: Any) -> float:
    """Shrinkage of a single fit of a classifier."""
    own = named_learner(task, estimator.learner).shrinkage
    return float(own if estimator.shrinkage == "auto" else estimator.shrinkage)


# ---- the fit


def fit_samples(
    estimator: Any, given: Input, validation: Validation, start: Any, deadline: float
) -> Fit:
    """Fit once, or several times on parts of the samples, and assemble the model.

    A warm start continues the model `start`. The deadline is on the clock of `time.monotonic`.
    """
    task, samples = given.task, given.samples
    n_folds = _n_folds(estimator, given, validation)
    if task.is_constant:
        found = task.alone(Ensemble.of((), 1), History())
    elif n_folds:
        found = _fit_parts(estimator, given, n_folds, deadline)
    else:
        found = _fit_once(estimator, given, validation, start, deadline)
    rows = found.ensemble.example_rows
    place = np.searchsorted(samples.rows_of_table, rows)  # rows_of_table is sorted
    provenance = Provenance(
        missing_features(samples.X),
        index_labels(given.X, rows),
        dict(zip(rows, samples.labels[place].tolist(), strict=True)),
        None if _is_precomputed(estimator) or not rows else samples.X[place],
    )
    whole = (
        estimator.subsample == 1
        and getattr(estimator, "weight_trimming", None) is None
        and shrinkage_of(estimator, task) == 1
    )
    used = SampleUse(whole, found.cross_fit is None and not estimator.early_stopping)
    n_threads = threads_of(estimator.n_jobs)
    model = task.model(
        given.table,
        found,
        provenance,
        lambda model: training_facts(model, samples, used, n_threads),
        lambda: learn_costs(samples, n_threads=n_threads),
    )
    return Fit(model, found.history, found.cross_fit)


def _is_precomputed(estimator: Any) -> bool:
    """Whether the table holds distances, which are not values of a row."""
    return getattr(estimator.learner, "metric", None) == "precomputed"


def _n_folds(estimator: Any, given: Input, validation: Validation) -> int:
    if estimator.cross_fit != "auto":
        return int(estimator.cross_fit or 0)
    if estimator.early_stopping or estimator.warm_start or validation is not None:
        return 0
    learner = named_learner(given.task, estimator.learner)
    return given.task.n_folds(estimator.learner, learner, given.samples)


def _fit_once(
    estimator: Any, given: Input, validation: Validation, start: Any, deadline: float
) -> Found:
    task = given.task
    learner = named_learner(task, estimator.learner)
    recipe = task.recipe_alone(learner, lambda: n_distinct(given.samples))
    settings = SettingsFor(estimator, given.task, given.samples)(recipe)
    samples, held = _hold_out(estimator, given, validation, settings.seed)
    history = History() if start is None else estimator.history_
    with Hearing(callbacks_of(estimator, settings.rounds, task.error_format)) as callbacks:
        ensemble = train(
            MemoryRows.of(samples, settings.n_threads),
            settings,
            history=history,
            callbacks=[*callbacks, Deadline(deadline)],
            held=None if held is None else follow(held, settings),
            start=None if start is None else start.ensemble,
        )
    return task.alone(ensemble, history)


def _fit_parts(estimator: Any, given: Input, n_folds: int, deadline: float) -> Found:
    task, samples, n_threads = given.task, given.samples, threads_of(estimator.n_jobs)
    settings_of = SettingsFor(estimator, given.task, given.samples)
    if is_race(estimator.learner):
        running = task.candidates(settings_of, samples)
        if estimator.learner == "auto_trees":
            running = [each for each in running if isinstance(each.settings.learner, Tree)]
    else:
        learner = named_learner(task, estimator.learner)
        task.check_averaged(learner, samples)
        running = [Entry("the learner", settings_of(task.recipe(learner)))]
    rounds = n_folds * sum(candidate.settings.rounds for candidate in running)
    scorer = task.scorer(samples, given.table, n_threads)
    callbacks = callbacks_of(estimator, rounds, task.error_format, n_folds)
    with Hearing(callbacks):
        crew = Crew(n_threads, callbacks, in_turn=bool(estimator.callbacks))
        n_parts = n_parts_of(len(samples), n_folds) if estimator.cross_fit == "auto" else n_folds
        end = task.deadline_of_race(deadline)
        found = select(scorer, running, n_folds, n_parts=n_parts, crew=crew, deadline=end)
    most = max((each.settings for each in running), key=lambda each: each.rounds)
    return task.averaged(found, scorer, most, deadline)


def _hold_out(
    estimator: Any, given: Input, validation: Validation, seed: int
) -> tuple[Samples, Samples | None]:
    """The samples that a single fit is trained on, and those that it is judged by."""
    samples = given.task.trained_on(given.samples)
    if validation is not None:
        X, y = validation
        values = encode_features(estimator, X, given.table.encoder)
        return samples, estimator.validation_samples(values, y, given.task, samples)
    if not estimator.early_stopping:
        return samples, None
    part = held_out_part(samples, estimator.validation_fraction, seed)
    if part is None:  # training cannot do without any sample
        return samples, None
    return samples.rows(part.kept), samples.rows(part.out)


# ---- settings


class SettingsFor:
    """Settings of an estimator: the user's choices, and a recipe's where there are none.

    With `samples`, scale="auto" of similarities is replaced by the scale that is best on them.
    """

    def __init__(self, estimator: Any, task: Task, samples: Samples | None = None) -> None:
        self._estimator, self._task, self._samples = estimator, task, samples
        # Once: a generator as random_state gives another seed each time.
        self.seed, self.n_threads = seed_of(estimator.random_state), threads_of(estimator.n_jobs)

    def __call__(self, recipe: Recipe) -> Settings:
        """The settings of a recipe."""
        estimator = self._estimator
        settings = Settings(
            recipe.learner,
            int(self._chosen("n_rounds", recipe.rounds)),
            self._chosen("shrinkage", recipe.shrinkage),
            None if estimator.tol == "auto" else float(estimator.tol),
            self._task.objective,
            Sampling(
                self._chosen("subsample", recipe.subsample),
                self._chosen("feature_subsample", recipe.feature_subsample),
                getattr(estimator, "weight_trimming", None),
                by_value=self._task.draws_by_value,
            ),
            estimator.n_rounds_no_change if estimator.early_stopping else None,
            seed=self.seed,
            n_threads=self.n_threads,
        )
        return settings if self._samples is None else settled(settings, self._samples)

    def _chosen(self, name: str, default: float) -> float:
        value = getattr(self._estimator, name)
        return default if value == "auto" else float(value)


def callbacks_of(
    estimator: Any, rounds: int, error_format: str = ".2%", n_folds: int = 1
) -> list[Callback]:
    """The user's callbacks and, with `verbose`, the progress."""
    progress: list[Callback] = []
    if estimator.verbose and in_notebook():
        progress = [NotebookProgress(rounds, error_format)]
    elif estimator.verbose:
        progress = [Progress(rounds, error_format, n_folds)]
    return [*progress, *(estimator.callbacks or ())]
