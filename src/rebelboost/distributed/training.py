"""Rows in several blocks as the input of a fit: the model is the one that all rows in one place give."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.draws import key_of
from rebelboost.boosting.settings import Settings
from rebelboost.boosting.state import HeldOut
from rebelboost.costs.by_sample import columns_of
from rebelboost.costs.matrix import cost_matrix, costs_of_classes, mean_costs
from rebelboost.data.samples import Samples
from rebelboost.distributed.facts import facts_of
from rebelboost.distributed.reading import (
    CommonTable,
    Describe,
    DistinctKeys,
    Encode,
    HoldOut,
    Price,
    Sizes,
    SmallestKeys,
    Weigh,
    sizes_of,
    table_of,
)
from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.reading import class_task, regression_task
from rebelboost.estimators.regressor import RebelRegressor
from rebelboost.estimators.validation import check_spread, encode_features, threads_of, warn_of_few
from rebelboost.learners.base import WeakLearner, traits_of
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import Provenance
from rebelboost.rows.base import RowFacts, Rows
from rebelboost.rows.block import EncodedRows, in_memory
from rebelboost.rows.sums import TargetEnds, mean_target
from rebelboost.tasks.base import Found, Table, named_learner

AnyRebel = TypeVar("AnyRebel", RebelClassifier, RebelRegressor)

MOST_COMPARED = 10_000
"""Rows that candidates are compared on: as many as in memory, for large tables."""


@dataclass(frozen=True)
class GivenRows:
    """Rows in several blocks, and what was given with them."""

    rows: Rows
    weighted: bool = False
    """Whether samples have weights."""
    by_sample: bool = False
    """Whether they have costs of their own."""


def fit_rows(estimator: AnyRebel, given: GivenRows, validation: Any = None) -> AnyRebel:
    """Fit a classifier or a regressor to the rows of all blocks."""
    estimator.check_parameters()
    estimator.check_together(validated=validation is not None)
    learner = named_learner(estimator.task_kind, estimator.learner)
    check_supported(estimator, learner)
    read = read_classes if isinstance(estimator, RebelClassifier) else read_targets
    return estimator.fit_to(lambda _: read(estimator, given, learner.categorical), validation)


@dataclass(frozen=True)
class BlocksInput:
    """Input of a fit: rows in several blocks, checked and encoded."""

    given: GivenRows
    spread: CommonTable
    sizes: Sizes
    task: Any
    by_sample: bool
    """Whether training knows costs by sample."""
    table: Table

    in_memory: ClassVar[None] = None

    @property
    def costs(self) -> Floats:
        """(K, K) costs that are trained on; (1, 1) in a regression."""
        found: Floats = getattr(self.task, "trained_on_costs", np.zeros((1, 1)))
        return found

    def for_one_model(self, *, racing: bool) -> "BlocksInput":
        """The same with the costs that one model is trained on."""
        # Decisions know costs by class, and those in columns.
        decidable = not self.by_sample or getattr(self.task, "columns", None) is not None
        task = self.task.decided_alone(racing=racing and decidable)
        by_sample = self.by_sample and task.training != "neutral"
        if by_sample:
            check_costs_by_sample(task.loss, task.scheme)
        return replace(self, task=task, by_sample=by_sample)

    def sample(self, seed: int) -> Samples:
        """The rows with the smallest hashes, in the order of their hashes: they do not depend on the blocks."""
        smallest = SmallestKeys(MOST_COMPARED, seed)
        found = [own for own in self.given.rows.ask(smallest) if len(own[0])]
        keys = np.concatenate([own for own, _ in found])
        rows = found[0][1]
        for _, own in found[1:]:
            rows = rows.joined(own)
        # Rows with equal hashes are equal but for their weights and costs.
        others = [] if rows.costs is None else list(rows.costs.T)
        others += [] if rows.weight is None else [rows.weight]
        order = np.lexsort((*others, keys))[:MOST_COMPARED].astype(np.int64)
        return self._samples(rows.take(order))

    def _samples(self, rows: EncodedRows) -> Samples:
        """Rows in memory as samples, with the costs that are trained on."""
        X, categorical = in_memory(rows.X), self.table.encoder.categorical
        if rows.target is not None:
            target = rows.target - self.task.baseline
            return Samples.of_targets(X, target, rows.weight, categorical, given=rows.target)
        costs, labels = self.costs, rows.labels.astype(np.int32)
        if self.by_sample:
            assert rows.costs is not None
            costs = rows.costs
        return Samples(
            X, labels, costs, self.by_sample, weight=rows.weight, categorical=categorical
        )

    def n_distinct(self) -> int:
        """Number of rows, equal ones counted once; those beyond a thousand of a block are not counted."""
        return len(np.unique(np.concatenate(self.given.rows.ask(DistinctKeys(1000)))))

    def validation_samples(self, estimator: Any, validation: Any) -> Samples | None:
        """Validation samples, encoded."""
        if validation is None:
            return None
        X, y = validation
        values = encode_features(estimator, X, self.table.encoder)
        categorical = self.table.encoder.categorical
        nothing = np.empty((0, len(categorical))), np.empty(0, dtype=np.int32)
        like = Samples(*nothing, self.costs, categorical=categorical)
        found: Samples = estimator.validation_samples(values, y, self.task, like)
        return found

    def divided(self, fraction: float, settings: Settings) -> tuple[Rows, HeldOut | None]:
        """The rows to train on, and about this fraction of them held out, drawn by their values."""
        rows, held = self.given.rows, None
        rows.facts = RowFacts(
            self.table.encoder.categorical,
            self.costs,
            self.by_sample,
            self.given.weighted,
            getattr(self.task, "baseline", 0.0),
        )
        if fraction > 0 and hold_rows_out(rows, fraction, settings.seed, self.task.n_outputs):
            held = HeldOut(settings.objective.state(rows, held=True))
        return rows, held

    def provenance(self, ensemble: Ensemble) -> Provenance:
        """Features with missing values."""
        del ensemble
        return Provenance(self.sizes.missing)

    def facts(self, estimator: Any, model: Any, found: Found) -> dict[str, float]:
        """What guarantees need to know of the samples."""
        weight = self.task.class_weight
        facts = facts_of(model, self.given.rows, self.sizes, weight, by_sample=self.by_sample)
        if estimator.early_stopping:
            facts.pop("zero_level", None)
        if len(found.history) > len(
            model.ensemble
        ):  # blocks hold scores of rounds that were dropped
            facts = {name: fact for name, fact in facts.items() if not name.startswith("cost_")}
        return facts

    def learn_costs(self) -> None:
        """Nothing: that needs all samples in memory."""


def hold_rows_out(rows: Rows, fraction: float, seed: int, n_classes: int) -> bool:
    """Hold out rows by their values; return whether there are any."""
    number = key_of(seed, 1)
    spared: tuple[int, ...] = ()
    for _ in range(2):
        kept, n_held = rows.ask(HoldOut(fraction, number, spared, n_classes))
        spared = tuple(np.flatnonzero(kept == 0).tolist())
        if not spared:
            break
    return bool(n_held)


# ---- reading


def read_classes(clf: Any, given: GivenRows, categorical: Any) -> BlocksInput:
    """Check and encode the rows of all blocks."""
    rows = given.rows
    table = table_of(rows.ask(Describe(categorical)))
    encode = Encode(
        table.encoder,
        table.classes,
        table.weight_shift,
        table.narrow,
        with_keys=clf.subsample < 1,
    )
    sizes = sizes_of(rows.ask(encode), weighted=given.weighted)
    names, units = list(table.classes), sizes.units
    counts, weighed, paid = rows.ask(Weigh(len(names), units.weight, sizes.paid_units))
    warn_of_few(table.classes, counts)
    class_weight = weighed * units.weight
    costs = costs_of_classes(clf.costs, clf.class_weight, names)
    shown = None if table.names is None else list(table.names)
    numbers, columns = columns_of(costs, names, shown, table.encoder.categorical)
    matrix = cost_matrix(numbers, names, class_weight)
    if given.by_sample:
        columns = None
    elif columns is not None:
        priced = rows.ask(Price(columns, matrix, tuple(shown or ())))
        sizes = sizes_of(priced, weighted=given.weighted)
        *_, paid = rows.ask(Weigh(len(names), units.weight, sizes.paid_units))
    by_sample = given.by_sample or columns is not None
    if by_sample:
        matrix = mean_costs(paid * sizes.paid_units, class_weight)
    task = class_task(clf, table.classes, class_weight, matrix, columns, by_sample=by_sample)
    return BlocksInput(given, table, sizes, task, by_sample, _table(clf, table))


def read_targets(reg: Any, given: GivenRows, categorical: Any) -> BlocksInput:
    """Check and encode the rows of all blocks, for a regression."""
    if given.by_sample:
        raise ValueError("a regression has no costs: leave out costs=")
    rows = given.rows
    table = table_of(rows.ask(Describe(categorical, numbers=True)))
    encode = Encode(
        table.encoder,
        table.classes,
        table.weight_shift,
        table.narrow,
        with_keys=reg.subsample == "auto" or float(reg.subsample) < 1,
        numbers=True,
    )
    sizes = sizes_of(rows.ask(encode), weighted=given.weighted)
    (ends,) = rows.ask(TargetEnds())
    check_spread(np.array([-ends[0], ends[1]]))
    task = regression_task(reg, mean_target(rows, ends), 1.0)
    return BlocksInput(given, table, sizes, task, by_sample=False, table=_table(reg, table))


def _table(estimator: Any, table: CommonTable) -> Table:
    estimator.n_features_in_ = table.encoder.n_features
    if table.names is not None:
        estimator.feature_names_in_ = table.names
    return Table(table.encoder, table.names, threads_of(estimator.n_jobs))


# ---- what needs all rows in one place


def check_supported(estimator: Any, learner: WeakLearner) -> None:
    """Raise an error for settings that need all rows in one place."""
    if not traits_of(learner).searches_blocks:
        raise ValueError(
            f"learner={estimator.learner!r} needs all rows in one place: on spread rows use Tree() or "
            "Stump(binning='quantile'), or fit the ordinary estimator to a sample of the rows"
        )
    if estimator.task_kind.loss_needs_all_rows(estimator.loss):
        raise ValueError(
            f"loss={estimator.loss!r} needs all rows in one place: on spread rows set loss='squared', or "
            "fit the ordinary estimator to a sample of the rows"
        )
    only = {"warm_start": False, "weight_trimming": None}
    for name, value in only.items():
        given = getattr(estimator, name, value)
        if given != value:
            raise ValueError(
                f"{name}={given!r} needs all rows in one place: on spread rows set {name}={value!r}"
            )
    if estimator.cross_fit not in ("auto", None):
        raise ValueError(
            f"cross_fit={estimator.cross_fit!r} needs all rows in one place: on spread rows set "
            "cross_fit=None"
        )


def check_costs_by_sample(loss: str, subcosts: str) -> None:
    """Raise an error if training on costs by sample needs all rows in one place."""
    for name, given, only in (("loss", loss, "exponential"), ("subcosts", subcosts, "thesis")):
        if given != only:
            raise ValueError(
                f"costs by sample with {name}={given!r} need all rows in one place: on spread rows set "
                f"{name}={only!r}, or training='neutral'"
            )
