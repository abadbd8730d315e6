"""The input of `fit`: check and encode the table, the target, weights and costs, and name the task."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rebelboost.base.arrays import Values
from rebelboost.base.fixed_point import exact_totals
from rebelboost.boosting.fit import follow
from rebelboost.boosting.objectives import RegressionObjective
from rebelboost.boosting.settings import Settings
from rebelboost.boosting.state import HeldOut
from rebelboost.costs.by_sample import columns_of, rows_of_cube
from rebelboost.costs.decision import DecisionRule, budgeted
from rebelboost.costs.matrix import class_costs, cost_matrix, cost_rows, costs_of_classes
from rebelboost.data.encoder import FeatureEncoder
from rebelboost.data.equal_samples import n_distinct
from rebelboost.data.folds import held_out_part
from rebelboost.data.samples import Samples
from rebelboost.data.spread import sorted_columns, spreads_of
from rebelboost.estimators.fitting import shrinkage_of
from rebelboost.estimators.validation import (
    check_same_classes,
    check_spread,
    checked_weight,
    encode_features,
    encode_labels,
    encode_target,
    index_labels,
    learn_features,
    missing_features,
    numbered,
    threads_of,
    warn_of_few,
)
from rebelboost.losses.regression import baseline, huber_delta
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedClassifier, FittedRegressor, LearnedCosts, Provenance
from rebelboost.model.training_counts import TrainingCounts, count_columns
from rebelboost.rows.base import MemoryRows
from rebelboost.tasks.base import Found, Table, named_learner
from rebelboost.tasks.classes import ClassTask
from rebelboost.tasks.cost_learning import learn_costs
from rebelboost.tasks.regression import RegressionTask
from rebelboost.theory.facts import SampleUse, training_facts


class MemoryInput(NamedTuple):
    """Input of `fit`: samples in memory, checked and encoded."""

    task: Any
    in_memory: Samples
    table: Table
    X: Any
    """The table as the user gave it."""

    def for_one_model(self, *, racing: bool) -> "MemoryInput":
        """The same."""
        del racing
        return self

    def sample(self, seed: int) -> Samples:
        """All samples."""
        del seed
        return self.in_memory

    def n_distinct(self) -> int:
        """Number of samples, equal ones counted once."""
        return n_distinct(self.in_memory)

    def validation_samples(self, estimator: Any, validation: Any) -> Samples | None:
        """Validation samples, encoded."""
        if validation is None:
            return None
        X, y = validation
        values = encode_features(estimator, X, self.table.encoder)
        like = self.task.trained_on(self.in_memory)
        found: Samples = estimator.validation_samples(values, y, self.task, like)
        return found

    def divided(self, fraction: float, settings: Settings) -> tuple[MemoryRows, HeldOut | None]:
        """The samples to train on, and about this fraction of them held out."""
        samples, n_threads = self.task.trained_on(self.in_memory), settings.n_threads
        part = held_out_part(samples, fraction, settings.seed) if fraction > 0 else None
        if part is None:  # training cannot do without any sample
            return MemoryRows.of(samples, n_threads), None
        held = follow(samples.rows(part.out), settings)
        return MemoryRows.of(samples.rows(part.kept), n_threads), held

    def provenance(self, ensemble: Ensemble) -> Provenance:
        """Names, classes and values of rows that terms compare samples with."""
        samples, rows = self.in_memory, ensemble.example_rows
        place = np.searchsorted(samples.rows_of_table, rows)  # rows_of_table is sorted
        keeps = rows and not self.table.holds_distances
        columns = None if self.table.holds_distances else sorted_columns(samples.X)
        return Provenance(
            missing_features(samples.X),
            index_labels(self.X, rows),
            dict(zip(rows, samples.labels[place].tolist(), strict=True)),
            samples.X[place] if keeps else None,
            spreads=None if columns is None else spreads_of(columns, samples.categories),
            seen=None if columns is None else self._seen(columns),
        )

    def _seen(self, columns: Sequence[Values]) -> TrainingCounts | None:
        """Counts of the rows, which new rows are compared with."""
        n_levels = {f: len(own) for f, own in self.table.encoder.levels.items()}
        return count_columns(columns, len(self.in_memory.X), n_levels)

    def facts(self, estimator: Any, model: Any, found: Found) -> dict[str, float]:
        """What guarantees need to know of the samples."""
        whole = (
            estimator.subsample == 1
            and estimator.weight_trimming is None
            and shrinkage_of(estimator, self.task) == 1
        )
        used = SampleUse(whole, found.cross_fit is None and not estimator.early_stopping)
        return training_facts(model, self.in_memory, used, threads_of(estimator.n_jobs))

    def learn_costs(self) -> LearnedCosts:
        """What decisions cost, learned from costs by sample."""
        return learn_costs(self.in_memory, n_threads=self.table.n_threads)


class SplitBy(NamedTuple):
    """How samples are left out, as given to `fit`; None: by chance."""

    groups: ArrayLike | None = None
    """(N,) samples of a group are left out together."""
    times: ArrayLike | None = None
    """(N,) parts are trained on what came before the samples that they leave out."""

    def ranks(self, n_samples: int) -> dict[str, Any]:
        """Ranks of the groups or times, by the name of the field of `Samples`."""
        if self.groups is not None and self.times is not None:
            raise ValueError("groups and times cannot both say what is left out: give one of them")
        return {
            "groups": numbered(self.groups, "groups", n_samples),
            "times": numbered(self.times, "times", n_samples),
        }


def rule_of(clf: Any, level: float | None = None) -> DecisionRule:
    """Decision rule given by a classifier's parameters, and by the level of a budget."""
    rule = DecisionRule(clf.decision, clf.reject_cost, clf.reject_label)
    return rule if clf.reject_budget is None or level is None else budgeted(rule, level)


def read_classes(
    clf: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    costs: ArrayLike | None,
    split_by: SplitBy,
    start: FittedClassifier | None,
) -> MemoryInput:
    """Read the input of a classifier; a warm start keeps the features and classes of its model `start`."""
    encoder, values = _features(clf, ClassTask, X, start)
    classes, labels = encode_labels(y, len(values))
    if start is not None:
        check_same_classes(start.classes, classes)
    warn_of_few(classes, np.bincount(labels))
    weight = checked_weight(sample_weight, values)
    counts = exact_totals(weight, labels, len(classes))
    names = getattr(clf, "feature_names_in_", None)
    given = costs_of_classes(clf.costs, clf.class_weight, list(classes))
    numbers, columns = columns_of(given, list(classes), names, encoder.categorical)
    matrix = cost_matrix(numbers, list(classes), counts)
    paid, by_sample = matrix, True
    if costs is not None:
        paid, columns = cost_rows(costs, labels, len(classes), list(classes)), None
    elif columns is not None:
        cube = columns.applied(matrix, values, list(map(str, clf.feature_names_in_)))
        paid = rows_of_cube(cube, labels)
    else:
        by_sample = False
    samples = Samples(
        values,
        labels,
        paid,
        by_sample,
        weight,
        encoder.categorical,
        **split_by.ranks(len(values)),
    )
    samples = _positive(samples)
    decided = class_costs(samples) if by_sample else matrix
    task = class_task(clf, classes, counts, decided, columns, by_sample=by_sample)
    return MemoryInput(task, samples, _table(clf, encoder), X)


def class_task(
    clf: Any, classes: Any, counts: Any, costs: Any, columns: Any, *, by_sample: bool
) -> ClassTask:
    """The task of a classifier; the arguments are fields of `ClassTask`."""
    return ClassTask(
        classes,
        counts,
        costs,
        columns,
        clf.loss,
        clf.subcosts,
        clf.training,
        rule_of(clf),
        by_sample,
    )


def read_targets(
    reg: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    split_by: SplitBy,
    start: FittedRegressor | None,
) -> MemoryInput:
    """Read the input of a regressor; a warm start keeps the features and the baseline of its model `start`."""
    encoder, values = _features(reg, RegressionTask, X, start)
    target = encode_target(y, len(values))
    check_spread(target)
    weight = checked_weight(sample_weight, values)
    samples = _positive(
        Samples.of_targets(
            values, target, weight, encoder.categorical, **split_by.ranks(len(values))
        )
    )
    assert samples.target is not None
    target = samples.target  # of the samples with a positive weight
    first = baseline(reg.loss, target, samples.weight) if start is None else start.baseline
    samples = replace(samples, target=target - first, given=target)
    delta = reg.huber_delta
    if delta == "auto":
        delta = huber_delta(target - first, samples.weight)
    task = regression_task(reg, first, float(delta))
    return MemoryInput(task, samples, _table(reg, encoder), X)


def regression_task(reg: Any, first: float, delta: float) -> RegressionTask:
    """The task of a regressor, given its baseline and the threshold of the Huber loss."""
    return RegressionTask(first, RegressionObjective(reg.loss, delta), reg.early_stopping)


def _features(estimator: Any, task: Any, X: Any, start: Any) -> tuple[FeatureEncoder, Values]:
    if start is not None:
        return start.encoder, encode_features(estimator, X, start.encoder)
    return learn_features(estimator, X, named_learner(task, estimator.learner).categorical)


def _positive(samples: Samples) -> Samples:
    """The samples with a positive weight."""
    weight = samples.weight
    return samples if weight is None or weight.all() else samples.rows(weight > 0)


def _table(estimator: Any, encoder: FeatureEncoder) -> Table:
    return Table(
        encoder,
        getattr(estimator, "feature_names_in_", None),
        threads_of(estimator.n_jobs),
        getattr(estimator.learner, "metric", None) == "precomputed",
    )
