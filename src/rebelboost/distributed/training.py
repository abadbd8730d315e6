"""Training of an ordinary estimator on spread rows: the model is the one that all rows in one place give."""

import math
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.boosting.callbacks import Deadline, Hearing
from rebelboost.boosting.fit import follow, train
from rebelboost.boosting.rounds import History
from rebelboost.boosting.settings import Settings
from rebelboost.boosting.state import HeldOut
from rebelboost.costs.by_sample import columns_of
from rebelboost.costs.matrix import cost_matrix, costs_of_classes, mean_costs
from rebelboost.data.samples import Samples
from rebelboost.distributed.agreement import Sizes, SpreadTable, sizes_of, table_of
from rebelboost.distributed.deciding import facts_of
from rebelboost.distributed.holding import SpreadInput, hold_rows_out
from rebelboost.distributed.racing import raced, sampled
from rebelboost.distributed.reading import Describe, DistinctKeys, Encode, Price, Weigh
from rebelboost.distributed.refusals import check_costs_by_sample, check_spreadable
from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.fitting import SettingsFor, callbacks_of
from rebelboost.estimators.inputs import deadline_of, encode_features, warn_of_few
from rebelboost.estimators.reading import class_task, regression_task
from rebelboost.estimators.regressor import RebelRegressor
from rebelboost.estimators.targets import check_spread
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import Provenance
from rebelboost.rows.base import RowFacts, Rows
from rebelboost.rows.block import EncodedRows
from rebelboost.rows.columns import in_memory
from rebelboost.rows.sums import TargetEnds, mean_target
from rebelboost.tasks.base import Table, is_race, named_learner
from rebelboost.tasks.classes import ClassTask

__all__ = ["SpreadInput", "fit_spread"]

AnyRebel = TypeVar("AnyRebel", RebelClassifier, RebelRegressor)


def fit_spread(estimator: AnyRebel, spread: Rows, given: SpreadInput) -> AnyRebel:
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
    estimator: Any, model: Any, spread: Rows, known: "Known", history: History
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

    @property
    def costs(self) -> Floats:
        """(K, K) costs that are trained on; (1, 1) in a regression."""
        found: Floats = getattr(self.task, "trained_on_costs", np.zeros((1, 1)))
        return found

    def facts(self, given: SpreadInput) -> RowFacts:
        """What a fit knows of all rows."""
        baseline = getattr(self.task, "baseline", 0.0)
        categorical = self.table.encoder.categorical
        return RowFacts(categorical, self.costs, self.by_sample, given.weighted, baseline)

    def samples_of(self, rows: EncodedRows) -> Samples:
        """Rows in memory as samples, with the costs that are trained on."""
        X, categorical = in_memory(rows.X), self.table.encoder.categorical
        if rows.target is not None:
            target = rows.target - self.task.baseline
            return Samples.of_targets(X, target, rows.weight, categorical, given=rows.target)
        costs = self.costs
        if self.by_sample:
            assert rows.costs is not None
            costs = rows.costs
        return Samples(
            X, rows.labels, costs, self.by_sample, weight=rows.weight, categorical=categorical
        )

    def like(self) -> Samples:
        """No samples, with the costs of classes that are trained on."""
        labels, categorical = np.empty(0, dtype=np.int32), self.table.encoder.categorical
        nothing = np.empty((0, len(categorical)))
        return Samples(nothing, labels, self.costs, categorical=categorical)


# ---- reading


def read_classes(clf: Any, spread: Rows, given: SpreadInput, categorical: Any) -> Known:
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


def read_targets(reg: Any, spread: Rows, given: SpreadInput, categorical: Any) -> Known:
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
    first = first_prediction(spread)
    return Known(table, sizes, regression_task(reg, first, math.inf), by_sample=False)


def first_prediction(rows: Rows) -> float:
    """The mean of all targets."""
    (ends,) = rows.ask(TargetEnds())
    check_spread(np.array([-ends[0], ends[1]]))
    return mean_target(rows, ends)


def n_distinct(spread: Rows) -> int:
    """Number of rows, equal ones counted once; those beyond a thousand of a part are not counted."""
    return len(np.unique(np.concatenate(spread.ask(DistinctKeys(1000)))))


# ---- boosting


def _boosted(
    estimator: Any,
    rows: Rows,
    given: SpreadInput,
    known: Known,
    settings: Settings,
    history: History,
    deadline: float,
) -> Ensemble:
    """Hold rows out, and boost."""
    task, held = known.task, None
    rows.facts = known.facts(given)
    if given.validation is not None:
        X, y = given.validation
        values = encode_features(estimator, X, known.table.encoder)
        held = follow(estimator.validation_samples(values, y, task, known.like()), settings)
    elif estimator.early_stopping:
        fraction, seed = estimator.validation_fraction, settings.seed
        if hold_rows_out(rows, fraction, seed, task.n_outputs):
            held = HeldOut(settings.objective.state(rows, held=True))
    with Hearing(callbacks_of(estimator, settings.rounds, task.error_format)) as callbacks:
        return train(
            rows,
            settings,
            history=history,
            callbacks=[*callbacks, Deadline(deadline)],
            held=held,
        )
