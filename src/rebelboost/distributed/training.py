"""Training of an ordinary classifier on spread rows: the model is the one that all rows in one place give."""

import math
import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.fixed_point import weight_scale
from rebelboost.base.random_keys import key_of
from rebelboost.boosting.callbacks import Deadline, Hearing
from rebelboost.boosting.fit import Settings, follow, train
from rebelboost.boosting.objectives import ClassObjective
from rebelboost.boosting.rounds import History
from rebelboost.boosting.state import HeldOut
from rebelboost.costs.by_sample import CostColumns, columns_of
from rebelboost.costs.judge import Judge
from rebelboost.costs.matrix import cost_matrix, costs_of_classes, mean_costs, uniform
from rebelboost.costs.posterior import Decoder
from rebelboost.data.samples import Samples
from rebelboost.distributed.agreement import Sizes, SpreadTable, sizes_of, table_of
from rebelboost.distributed.deciding import facts_of
from rebelboost.distributed.growing import SpreadSampling, SpreadTree
from rebelboost.distributed.quantiles import spread_binner
from rebelboost.distributed.racing import Choice, given_choice, raced, races
from rebelboost.distributed.refusals import check_spreadable
from rebelboost.distributed.rows import (
    BinRows,
    Describe,
    Encode,
    HoldOut,
    Price,
    Summarize,
    Weigh,
)
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.steps import Weighting
from rebelboost.distributed.weights import SpreadHeldOut, SpreadState, spread_loss
from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.inputs import (
    check_agreement,
    encode_features,
    known_labels,
    seed_of,
    threads_of,
    warn_of_few,
)
from rebelboost.estimators.training import callbacks_of, rule_of, subcosts_of
from rebelboost.learners.tree import Tree
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedClassifier, Provenance


class SpreadInput(NamedTuple):
    """How the parts were given."""

    weighted: bool
    """Whether samples have weights."""
    by_sample: bool
    """Whether they have costs of their own."""
    validation: tuple[Any, Any] | None = None


class Known(NamedTuple):
    """What is known of the rows before training."""

    table: SpreadTable
    sizes: Sizes
    class_weight: Floats
    costs: Floats
    """(K, K) that decisions follow."""
    columns: CostColumns | None = None
    """Costs that columns of the table hold."""


def fit_spread(clf: RebelClassifier, spread: SpreadRows, given: SpreadInput) -> RebelClassifier:
    """Fit a classifier to the rows of all parts."""
    clf.check_parameters()
    check_agreement(clf, validated=given.validation is not None)
    learner = check_spreadable(clf)
    known = read_rows(clf, spread, given, learner.categorical)
    given = given._replace(by_sample=given.by_sample or known.columns is not None)
    clf.n_features_in_ = known.table.encoder.n_features
    if known.table.names is not None:
        clf.feature_names_in_ = known.table.names
    history = History()
    model = _trained(clf, spread, given, known, history)
    clf.model_ = model
    clf.history_, clf.cross_fit_ = history, None
    return clf


def read_rows(
    clf: RebelClassifier, spread: SpreadRows, given: SpreadInput, categorical: Any
) -> Known:
    """Check and encode the rows of all parts."""
    table = table_of(spread.ask(Describe(categorical)))
    encode = Encode(
        table.encoder, table.classes, table.weight_shift, table.narrow, clf.subsample < 1
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
    if given.by_sample or columns is not None:
        matrix = mean_costs(paid * sizes.paid_units, class_weight)
    return Known(table, sizes, class_weight, matrix, columns)


def _trained(
    clf: RebelClassifier, spread: SpreadRows, given: SpreadInput, known: Known, history: History
) -> FittedClassifier:
    """Train, and assemble the fitted model."""
    classes, costs = known.table.classes, known.costs
    if len(classes) == 1:
        ensemble, decoder = Ensemble.of((), 1), Decoder(costs, loss=clf.loss)
        by_sample = False
    else:
        racing = races(clf, validated=given.validation is not None) and not given.by_sample
        neutral = clf.training == "neutral" or (
            racing and clf.training == "auto" and rule_of(clf).by_cost
        )
        by_sample = given.by_sample and not neutral
        trained_on = uniform(len(classes)) if neutral else costs
        choice = raced(clf, spread, known.table, trained_on) if racing else given_choice(clf)
        given = given._replace(by_sample=by_sample)
        known = known._replace(costs=trained_on)
        ensemble = _boosted(clf, spread, given, known, choice, history)
        decoder = Decoder(
            trained_on, choice.temperature, loss=clf.loss, subcosts=subcosts_of(clf, costs)
        )
    model = FittedClassifier(
        encoder=known.table.encoder,
        feature_names=known.table.names,
        ensemble=ensemble,
        classes=classes,
        class_weight=known.class_weight,
        costs=costs,
        decoder=decoder,
        rule=rule_of(clf),
        columns=known.columns,
    )
    facts = facts_of(model, spread, known.sizes, known.class_weight, by_sample=by_sample)
    if clf.early_stopping:
        facts.pop("zero_level", None)
    return replace(model, provenance=Provenance(known.sizes.missing, facts=facts))


def _boosted(
    clf: RebelClassifier,
    spread: SpreadRows,
    given: SpreadInput,
    known: Known,
    choice: Choice,
    history: History,
) -> Ensemble:
    """Bin the rows, and boost."""
    seed, n_classes = seed_of(clf.random_state), len(known.table.classes)
    sizes, held_size = known.sizes, None
    if clf.early_stopping and given.validation is None:
        held_size = _hold_out(clf, spread, known, seed)
        summaries = spread.ask(Summarize(n_classes))
        sizes = sizes_of(summaries, weighted=given.weighted)
    weighting = _weighting(clf, known, given, sizes)
    settings = Settings(
        SpreadLearner(spread, choice.learner, known, sizes, given.weighted),
        choice.rounds,
        choice.shrinkage,
        0.0 if clf.tol == "auto" else float(clf.tol),
        SpreadObjective(spread, weighting, known.costs, sizes.n_rows),
        SpreadSampling(clf.subsample, choice.feature_subsample),
        clf.n_rounds_no_change if clf.early_stopping else None,
        seed=seed,
        n_threads=threads_of(clf.n_jobs),
    )
    end = math.inf if clf.time_budget is None else time.monotonic() + clf.time_budget
    with Hearing(callbacks_of(clf, settings.rounds)) as callbacks:
        return train(
            None,  # type: ignore[arg-type]  # the samples are with the parts
            settings,
            history=history,
            callbacks=[*callbacks, Deadline(end)],
            held=_held_out(clf, given, known, settings, held_size),
        )


def _weighting(clf: RebelClassifier, known: Known, given: SpreadInput, sizes: Sizes) -> Weighting:
    by_sample = given.by_sample
    # Scaled so that squares neither overflow nor underflow; the mean loss keeps the user's units.
    largest = sizes.largest_cost if by_sample else float(known.costs.max(initial=0.0))
    shift = int(np.frexp(largest)[1]) - 1
    return Weighting(
        None if by_sample else np.ldexp(known.costs, -shift),
        shift,
        subcosts_of(clf, known.costs),
        sizes.units,
        len(known.table.classes),
    )


# ---- rows held out


def _hold_out(
    clf: RebelClassifier, spread: SpreadRows, known: Known, seed: int
) -> tuple[int, float] | None:
    """Hold out rows by their values; return their number and weight, or None if there are none."""
    number, n_classes = key_of(seed, 1), len(known.table.classes)
    unit = known.sizes.units.weight
    spared: tuple[int, ...] = ()
    for _ in range(2):
        hold = HoldOut(clf.validation_fraction, number, spared, n_classes, unit)
        kept, n_held, weight = spread.ask(hold)
        spared = tuple(np.flatnonzero(kept == 0).tolist())
        if not spared:
            break
    return (int(n_held), float(weight * unit)) if n_held else None


def _held_out(
    clf: RebelClassifier,
    given: SpreadInput,
    known: Known,
    settings: Settings,
    held_size: tuple[int, float] | None,
) -> HeldOut | None:
    objective = settings.objective
    assert isinstance(objective, SpreadObjective)
    if given.validation is not None:
        X, y = given.validation
        values = encode_features(clf, X, known.table.encoder)
        labels = known_labels(y, len(values), known.table.classes)
        held = Samples(values, labels, known.costs, categorical=known.table.encoder.categorical)
        local = ClassObjective(clf.loss, objective.weighting.subcosts)
        return follow(held, replace(settings, objective=local))
    if held_size is None:
        return None
    return SpreadHeldOut(
        None,  # type: ignore[arg-type]  # the samples are with the parts
        objective.state_of(*held_size, held=True),
    )


# ---- what the loop asks for


@dataclass(frozen=True)
class SpreadLearner:
    """Prepares trees on spread rows."""

    spread: SpreadRows
    tree: Tree
    known: Known
    sizes: Sizes
    weighted: bool

    @property
    def rounds(self) -> int:
        """Number of rounds used for n_rounds="auto"."""
        return self.tree.rounds

    @property
    def shrinkage(self) -> float:
        """Shrinkage used for shrinkage="auto"."""
        return self.tree.shrinkage

    @property
    def categorical(self) -> Any:
        """Categorical features."""
        return self.tree.categorical

    def prepare(self, samples: Any, n_threads: int = 1) -> SpreadTree:
        """Choose the bins, and let the parts bin their rows."""
        del samples
        sizes = self.sizes
        scale = weight_scale(sizes.largest_weight, sizes.n_rows) if self.weighted else None
        categorical = self.known.table.encoder.categorical
        binner = spread_binner(
            self.spread, categorical, self.tree.bins, self.tree.binning, scale, sizes.n_rows
        )
        self.spread.ask(BinRows(binner))
        return SpreadTree(None, self.tree, binner, self.spread, sizes.units.weight, n_threads)


@dataclass(frozen=True)
class SpreadObjective:
    """The exponential loss on spread rows."""

    spread: SpreadRows
    weighting: Weighting
    costs: Floats
    n_rows: int
    loss: str = "exponential"

    def state(self, samples: Any, judge: Judge, n_threads: int = 1) -> SpreadState:
        """Scores of 0, and their weights."""
        del samples, n_threads
        _, weight, _ = self.spread.ask(
            Weigh(self.weighting.n_classes, self.weighting.units.weight, self._ones)
        )
        total = float(weight.sum() * self.weighting.units.weight)
        return self.state_of(self.n_rows, total, judge=judge)

    def state_of(
        self, n_rows: int, total: float, *, held: bool = False, judge: Judge | None = None
    ) -> SpreadState:
        """Scores of 0 of the rows that are trained on, or of those held out."""
        total = math.ldexp(total, -self.weighting.shift)
        loss = spread_loss(self.spread, self.weighting, n_rows, total, held=held)
        return SpreadState(loss, judge or self.judge(None))

    def judge(self, samples: Any, place: Any = None) -> Judge:
        """Evaluates decisions by the costs; the parts know the labels."""
        del samples, place
        return Judge(np.empty(0, dtype=np.int32), self.costs)

    @property
    def _ones(self) -> Floats:
        return np.ones(self.weighting.n_classes)
