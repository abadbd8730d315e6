"""One fit for both estimators: a task, samples and settings.

An estimator reads its input, and knows its task. What follows is the same for classes and numbers: fit once, or
several times on parts of the samples, and assemble the model.
"""

from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol

from numpy.typing import ArrayLike

from rebelboost.boosting.callbacks import Callback, Deadline, Progress, closing_callbacks
from rebelboost.boosting.fit import follow, train
from rebelboost.boosting.notebook import NotebookProgress, in_notebook
from rebelboost.boosting.rounds import History
from rebelboost.boosting.sampling import Sampling
from rebelboost.boosting.settings import Recipe, Settings
from rebelboost.boosting.state import HeldOut
from rebelboost.data.samples import Samples
from rebelboost.estimators.monotone import check_constrained, constrained, directions_of, kept
from rebelboost.estimators.validation import seed_of, threads_of
from rebelboost.learners.base import traits_of
from rebelboost.learners.monotone import MonotoneTree
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import LearnedCosts, Provenance
from rebelboost.model.monotone import Directions
from rebelboost.rows.base import Rows
from rebelboost.selection.candidates import Entry
from rebelboost.selection.fit_pool import FitPool
from rebelboost.selection.race import n_parts_of, select
from rebelboost.selection.result import CrossFit
from rebelboost.selection.scale import choose_scale
from rebelboost.tasks.base import Found, Table, Task, is_race, named_learner, race_on_some

Validation = tuple[Any, ArrayLike] | None
NO_DIRECTIONS: Directions = MappingProxyType({})


class TrainingInput(Protocol):
    """Input of a fit, checked and encoded: samples in memory, or rows in several blocks."""

    @property
    def task(self) -> Any:
        """What is to be learned (`Task`)."""

    @property
    def table(self) -> Table:
        """What the model keeps of the table."""

    @property
    def in_memory(self) -> Samples | None:
        """All samples; None if they are not in memory."""

    def for_one_model(self, *, racing: bool) -> "TrainingInput":
        """The same for one fit to all rows, whose settings may be chosen by `racing` on some of them."""

    def sample(self, seed: int) -> Samples:
        """Some rows, to compare candidates on."""

    def n_distinct(self) -> int:
        """Number of rows, equal ones counted once, up to a thousand."""

    def validation_samples(self, estimator: Any, validation: Validation) -> Samples | None:
        """Validation samples, encoded; None if there are none."""

    def divided(self, fraction: float, settings: Settings) -> tuple[Rows, HeldOut | None]:
        """The rows to train on, and about this fraction of them held out."""

    def provenance(self, ensemble: Ensemble) -> Provenance:
        """What the model keeps of single rows."""

    def facts(self, estimator: Any, model: Any, found: Found) -> dict[str, float]:
        """What guarantees need to know of the samples."""

    def learn_costs(self) -> LearnedCosts | None:
        """What decisions cost, learned from costs by sample; None if samples are not in memory."""


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


def fit_input(
    estimator: Any, given: TrainingInput, validation: Validation, start: Any, deadline: float
) -> Fit:
    """Fit once, or several times on parts of the samples, and assemble the model.

    A warm start continues the model `start`. The deadline is on the clock of `time.monotonic`.
    """
    directions = directions_of(estimator.monotone, given.table)
    if directions and given.in_memory is None:
        raise ValueError("monotone= needs rows in memory: leave it out, or train on fewer rows")
    if given.task.is_constant:
        found = given.task.alone(Ensemble.of((), 1), History())
    elif n_folds := _n_folds(estimator, given, validation):
        found = _fit_parts(estimator, given, n_folds, deadline)
    else:
        given, found = _fit_once(estimator, given, validation, start, deadline)
    model = given.task.model(
        given.table,
        found,
        given.provenance(found.ensemble),
        lambda model: given.facts(estimator, model, found),
        given.learn_costs,
    )
    return Fit(kept(model, directions), found.history, found.cross_fit)


def _n_folds(estimator: Any, given: TrainingInput, validation: Validation) -> int:
    samples = given.in_memory
    if samples is None:
        return 0
    if estimator.cross_fit != "auto":
        return int(estimator.cross_fit or 0)
    if estimator.early_stopping or estimator.warm_start or validation is not None:
        return 0
    learner = named_learner(given.task, estimator.learner)
    n_folds: int = given.task.n_folds(estimator.learner, learner, samples)
    return n_folds


def _fit_once(
    estimator: Any, given: TrainingInput, validation: Validation, start: Any, deadline: float
) -> tuple[TrainingInput, Found]:
    """One fit to all rows; if they are not in memory, candidates are compared on some of them."""
    # In memory, a single fit is what the user has asked for.
    free = given.in_memory is None and estimator.cross_fit == "auto"
    racing = free and is_race(estimator.learner)
    racing = racing and (validation is not None or not estimator.early_stopping)
    given = given.for_one_model(racing=racing)
    task, history = given.task, History() if start is None else estimator.history_
    directions = directions_of(estimator.monotone, given.table)
    settings_of = SettingsFor(estimator, task, given.in_memory, directions)
    held_samples = given.validation_samples(estimator, validation)
    choice = None
    if racing:
        some = given.sample(settings_of.seed) if held_samples is None else held_samples
        only_trees = estimator.learner == "auto_trees"
        running = task.candidates(settings_of, some)
        choice = race_on_some(task, some, given.table, running, only_trees=only_trees)
    if choice is None:
        learner = named_learner(task, estimator.learner)
        settings = settings_of(task.recipe_alone(learner, given.n_distinct))
        check_constrained(settings.learner, directions)
    else:
        settings = choice.settings(stops_early=held_samples is not None)
    holds_out = estimator.early_stopping and held_samples is None
    rows, held = given.divided(estimator.validation_fraction if holds_out else 0.0, settings)
    if held_samples is not None:
        held = follow(held_samples, settings)
    with closing_callbacks(
        callbacks_of(estimator, settings.rounds, task.error_format)
    ) as callbacks:
        ensemble = train(
            rows,
            settings,
            history=history,
            callbacks=[*callbacks, Deadline(deadline)],
            held=held,
            start=None if start is None else start.ensemble,
        )
    found = task.alone(ensemble, history)
    if free and held_samples is not None:
        found = task.calibrated(found, held_samples)
    elif choice is not None:
        found = task.chosen(found, choice)
    return given, found


def _fit_parts(estimator: Any, given: TrainingInput, n_folds: int, deadline: float) -> Found:
    """Several fits on parts of samples in memory, of one or of several candidates."""
    task, samples, n_threads = given.task, given.in_memory, threads_of(estimator.n_jobs)
    assert samples is not None
    directions = directions_of(estimator.monotone, given.table)
    settings_of = SettingsFor(estimator, task, samples, directions)
    if is_race(estimator.learner):
        running = task.candidates(settings_of, samples)
        if estimator.learner == "auto_trees":
            running = [each for each in running if traits_of(each.settings.learner).searches_blocks]
        if directions:
            running = [each for each in running if isinstance(each.settings.learner, MonotoneTree)]
    else:
        learner = named_learner(task, estimator.learner)
        task.check_averaged(learner, samples)
        running = [Entry("the learner", settings_of(task.recipe(learner)))]
        check_constrained(running[0].settings.learner, directions)
    rounds = n_folds * sum(candidate.settings.rounds for candidate in running)
    scorer = task.scorer(samples, given.table, n_threads)
    callbacks = callbacks_of(estimator, rounds, task.error_format, n_folds)
    with closing_callbacks(callbacks):
        crew = FitPool(n_threads, callbacks, in_turn=bool(estimator.callbacks))
        n_parts = n_folds
        if estimator.cross_fit == "auto":
            of_many = task.parts_of_many if is_race(estimator.learner) else 1
            n_parts = n_parts_of(len(samples), n_folds, of_many)
        end = task.deadline_of_race(deadline)
        found = select(scorer, running, n_folds, n_parts=n_parts, crew=crew, deadline=end)
    most = max((each.settings for each in running), key=lambda each: each.rounds)
    averaged: Found = task.averaged(found, scorer, most, deadline)
    return averaged


# ---- settings


class SettingsFor:
    """Settings of an estimator: the user's choices, and a recipe's where there are none.

    With `samples`, scale="auto" of similarities is replaced by the scale that is best on them.
    """

    def __init__(
        self,
        estimator: Any,
        task: Task,
        samples: Samples | None = None,
        directions: Directions = NO_DIRECTIONS,
    ) -> None:
        self._estimator, self._samples, self._directions = estimator, samples, directions
        self._objective, self._by_value = task.objective, task.draws_by_value
        # Once: a generator as random_state gives another seed each time.
        self.seed, self.n_threads = seed_of(estimator.random_state), threads_of(estimator.n_jobs)

    def __call__(self, recipe: Recipe) -> Settings:
        """The settings of a recipe."""
        estimator = self._estimator
        settings = Settings(
            constrained(recipe.learner, self._directions),
            int(self._chosen("n_rounds", recipe.rounds)),
            self._chosen("shrinkage", recipe.shrinkage),
            _tolerance_of(estimator.tol),
            self._objective,
            Sampling(
                self._chosen("subsample", recipe.subsample),
                self._chosen("feature_subsample", recipe.feature_subsample),
                getattr(estimator, "weight_trimming", None),
                by_value=self._by_value,
            ),
            estimator.n_rounds_no_change if estimator.early_stopping else None,
            seed=self.seed,
            n_threads=self.n_threads,
        )
        if self._samples is None or getattr(recipe.learner, "scale", "") != "auto":
            return settings
        return choose_scale(settings, self._samples)

    def _chosen(self, name: str, default: float) -> float:
        value = getattr(self._estimator, name)
        return default if value == "auto" else float(value)


def _tolerance_of(tol: float | str) -> float | Literal["papers"] | None:
    if isinstance(tol, str):
        return "papers" if tol == "papers" else None
    return float(tol)


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
