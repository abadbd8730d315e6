"""Training of an ordinary estimator on spread rows: the model is the one that all rows in one place give."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from rebelboost.boosting.callbacks import Deadline, Hearing
from rebelboost.boosting.fit import follow, train
from rebelboost.boosting.rounds import History
from rebelboost.boosting.settings import Settings
from rebelboost.costs.by_sample import columns_of
from rebelboost.costs.matrix import cost_matrix, costs_of_classes, mean_costs
from rebelboost.data.samples import Samples
from rebelboost.distributed.agreement import Sizes, SpreadTable, sizes_of, table_of
from rebelboost.distributed.deciding import facts_of
from rebelboost.distributed.file_rows import in_memory
from rebelboost.distributed.growing import SpreadSampling
from rebelboost.distributed.holding import SpreadInput, hold_rows_out
from rebelboost.distributed.learners import SpreadLearner
from rebelboost.distributed.objectives import SpreadObjective, SpreadRegressionObjective
from rebelboost.distributed.parts import PartRows
from rebelboost.distributed.quantities import NumberLoss
from rebelboost.distributed.racing import raced, sampled
from rebelboost.distributed.refusals import check_costs_by_sample, check_spreadable
from rebelboost.distributed.rows import Describe, DistinctKeys, Encode, Price, Summarize, Weigh
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.steps import Weighting
from rebelboost.distributed.targets import first_prediction, weight_sums
from rebelboost.distributed.weights import SpreadHeldOut
from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.fitting import SettingsFor, callbacks_of
from rebelboost.estimators.inputs import deadline_of, encode_features, warn_of_few
from rebelboost.estimators.reading import class_task, regression_task
from rebelboost.estimators.regressor import RebelRegressor
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import Provenance
from rebelboost.tasks.base import Table, is_race, named_learner
from rebelboost.tasks.classes import ClassTask

if TYPE_CHECKING:
    from rebelboost.base.arrays import Floats
    from rebelboost.boosting.state import HeldOut

__all__ = ["SpreadInput", "fit_spread"]

AnyRebel = TypeVar("AnyRebel", RebelClassifier, RebelRegressor)


def fit_spread(estimator: AnyRebel, spread: SpreadRows, given: SpreadInput) -> AnyRebel:
    """Fit a classifier or a regressor to the rows of all parts."""
    validated = given.validation is not None
    estimator.check_parameters()
    estimator.check_together(validated=validated)
    learner = named_learner(estimator.task_kind, estimator.learner)
    check_spreadable(estimator, learner)
    deadline = deadline_of(estimator)
    read = read_classes if isinstance(estimator, RebelClassifier) else read_targets
    known = read(estimator, spread, given, learner.categorical)
    estimator.n_features_in_ = known.table.encoder.n_features
    if known.table.names is not None:
        estimator.feature_names_in_ = known.table.names
    racing = is_race(estimator.learner) and estimator.cross_fit == "auto"
    racing = racing and not (estimator.early_stopping or validated)
    history, table = History(), Table(known.table.encoder, known.table.names)
    if known.task.is_constant:
        found = known.task.alone(Ensemble.of((), 1), history)
    else:
        known = known.for_one_model(racing=racing)
        settings_of = SettingsFor(estimator, known.task)
        choice = None
        if racing:
            samples = known.samples_of(sampled(spread, settings_of.seed))
            only_trees = estimator.learner != "auto"
            choice = raced(known.task, samples, table, settings_of, only_trees=only_trees)
        if choice is None:
            few = known.task.recipe_alone(learner, lambda: n_distinct(spread))
            settings = settings_of(few)
        else:
            settings = choice.settings
        ensemble = _boosted(estimator, spread, given, known, settings, history, deadline)
        found = known.task.alone(ensemble, history)
        if choice is not None:
            found = known.task.chosen(found, choice.winner, choice.samples, choice.most)
    estimator.model_ = known.task.model(
        table,
        found,
        Provenance(known.sizes.missing),
        lambda model: _facts(estimator, model, spread, known, history),
    )
    estimator.history_, estimator.cross_fit_ = history, None
    return estimator


def _facts(
    estimator: Any, model: Any, spread: SpreadRows, known: "Known", history: History
) -> dict[str, float]:
    weight = known.task.class_weight
    facts = facts_of(model, spread, known.sizes, weight, by_sample=known.by_sample)
    if estimator.early_stopping:
        facts.pop("zero_level", None)
    if len(history) > len(model.ensemble):  # the parts hold scores of rounds that were dropped
        facts = {name: fact for name, fact in facts.items() if not name.startswith("cost_")}
    return facts


class Known(NamedTuple):
    """What is known of the rows before training."""

    table: SpreadTable
    sizes: Sizes
    task: Any
    by_sample: bool
    """Whether training knows costs by sample."""

    def for_one_model(self, *, racing: bool) -> "Known":
        """The same with the costs that one model is trained on."""
        if not isinstance(self.task, ClassTask):
            return self
        # Decisions know costs by class, and those in columns.
        task = self.task.decided_alone(
            racing=racing and (self.task.columns is not None or not self.by_sample)
        )
        by_sample = self.by_sample and task.training != "neutral"
        if by_sample:
            check_costs_by_sample(task.loss, task.scheme)
        return self._replace(task=task, by_sample=by_sample)

    def samples_of(self, rows: PartRows) -> Samples:
        """Rows in memory as samples, with the costs that are trained on."""
        X, categorical = in_memory(rows.X), self.table.encoder.categorical
        if rows.target is not None:
            target = rows.target - self.task.baseline
            return Samples.of_targets(X, target, rows.weight, categorical, given=rows.target)
        costs: Floats = self.task.trained_on_costs
        if self.by_sample:
            assert rows.costs is not None
            costs = rows.costs
        return Samples(
            X,
            rows.labels,
            costs,
            self.by_sample,
            weight=rows.weight,
            categorical=categorical,
        )


# ---- reading


def read_classes(clf: Any, spread: SpreadRows, given: SpreadInput, categorical: Any) -> Known:
    """Check and encode the rows of all parts."""
    table = table_of(spread.ask(Describe(categorical)))
    encode = Encode(
        table.encoder,
        table.classes,
        table.weight_shift,
        table.narrow,
        with_keys=clf.subsample < 1,
    )
    sizes = sizes_of(spread.ask(encode), weighted=given.weighted)
    names, units = list(table.classes), sizes.units
    counts, weighed, paid = spread.ask(Weigh(len(names), units.weight, sizes.paid_units))
    warn_of_few(table.classes, counts)
    class_weight = weighed * units.weight
    costs = costs_of_classes(clf.costs, clf.class_weight, names)
    shown = None if table.names is None else list(table.names)
    numbers, columns = columns_of(costs, names, shown, table.encoder.categorical)
    matrix = cost_matrix(numbers, names, class_weight)
    if given.by_sample:
        columns = None
    elif columns is not None:
        priced = spread.ask(Price(columns, matrix, tuple(shown or ())))
        sizes = sizes_of(priced, weighted=given.weighted)
        *_, paid = spread.ask(Weigh(len(names), units.weight, sizes.paid_units))
    by_sample = given.by_sample or columns is not None
    if by_sample:
        matrix = mean_costs(paid * sizes.paid_units, class_weight)
    task = class_task(clf, table.classes, class_weight, matrix, columns, by_sample=by_sample)
    return Known(table, sizes, task, by_sample)


def read_targets(reg: Any, spread: SpreadRows, given: SpreadInput, categorical: Any) -> Known:
    """Check and encode the rows of all parts, for a regression."""
    if given.by_sample:
        raise ValueError("a regression has no costs: leave out costs=")
    table = table_of(spread.ask(Describe(categorical, numbers=True)))
    encode = Encode(
        table.encoder,
        table.classes,
        table.weight_shift,
        table.narrow,
        with_keys=reg.subsample == "auto" or float(reg.subsample) < 1,
        numbers=True,
    )
    sizes = sizes_of(spread.ask(encode), weighted=given.weighted)
    first = first_prediction(spread, weight_sums(spread, weighted=given.weighted))
    return Known(table, sizes, regression_task(reg, first, math.inf), by_sample=False)


def n_distinct(spread: SpreadRows) -> int:
    """Number of rows, equal ones counted once; those beyond a thousand of a part are not counted."""
    return len(np.unique(np.concatenate(spread.ask(DistinctKeys(1000)))))


# ---- boosting


def _boosted(
    estimator: Any,
    spread: SpreadRows,
    given: SpreadInput,
    known: Known,
    settings: Settings,
    history: History,
    deadline: float,
) -> Ensemble:
    """Bin the rows, and boost."""
    sizes, n_outputs, held_size = known.sizes, known.task.n_outputs, None
    if estimator.early_stopping and given.validation is None:
        held_size = hold_rows_out(
            spread,
            estimator.validation_fraction,
            settings.seed,
            n_outputs,
            known.sizes.units.weight,
        )
        sizes = sizes_of(spread.ask(Summarize(n_outputs)), weighted=given.weighted)
    objective = _objective(spread, known, sizes, given)
    here = replace(
        settings,
        learner=SpreadLearner(spread, settings.learner, known.table, sizes),
        objective=objective,
        sampling=SpreadSampling(settings.sampling.subsample, settings.sampling.feature_subsample),
    )
    held: HeldOut | None = None
    if given.validation is not None:
        X, y = given.validation
        values = encode_features(estimator, X, known.table.encoder)
        nothing = np.empty((0, values.shape[1]))
        like = known.samples_of(
            PartRows(
                nothing,
                np.empty(0, dtype=np.int32),
                costs=np.empty((0, n_outputs)) if known.by_sample else None,
                target=None if isinstance(known.task, ClassTask) else np.empty(0),
            )
        )
        if known.by_sample:
            like = replace(like, costs=known.task.costs, by_sample=False)
        held = follow(estimator.validation_samples(values, y, known.task, like), settings)
    elif held_size is not None:
        nowhere: Any = None  # the samples are with the parts
        held = SpreadHeldOut(nowhere, objective.held_state(held_size))
    error_format = known.task.error_format
    with Hearing(callbacks_of(estimator, settings.rounds, error_format)) as callbacks:
        return train(
            None,  # type: ignore[arg-type]  # the samples are with the parts
            here,
            history=history,
            callbacks=[*callbacks, Deadline(deadline)],
            held=held,
        )


def _objective(
    spread: SpreadRows, known: Known, sizes: Sizes, given: SpreadInput
) -> SpreadObjective | SpreadRegressionObjective:
    task = known.task
    if not isinstance(task, ClassTask):
        sums = weight_sums(spread, weighted=given.weighted)
        loss = NumberLoss(task.objective.loss, task.baseline)
        return SpreadRegressionObjective(spread, loss, sums, given.weighted)
    costs = task.trained_on_costs
    # Scaled so that squares neither overflow nor underflow; the mean loss keeps the user's units.
    largest = sizes.largest_cost if known.by_sample else float(costs.max(initial=0.0))
    shift = int(np.frexp(largest)[1]) - 1
    weighting = Weighting(
        None if known.by_sample else np.ldexp(costs, -shift),
        shift,
        task.scheme,
        sizes.units,
        len(task.classes),
        known.by_sample,
    )
    return SpreadObjective(spread, weighting, costs, sizes.n_rows, task.loss)
