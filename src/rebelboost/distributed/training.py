"""Training of an ordinary classifier on spread rows: the model is the one that all rows in one place give."""

from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.boosting.callbacks import Deadline, Hearing
from rebelboost.boosting.fit import Settings, follow, train
from rebelboost.boosting.objectives import ClassObjective
from rebelboost.boosting.rounds import History
from rebelboost.boosting.state import HeldOut
from rebelboost.costs.by_sample import CostColumns, columns_of
from rebelboost.costs.matrix import cost_matrix, costs_of_classes, mean_costs, uniform
from rebelboost.costs.posterior import Decoder
from rebelboost.data.samples import Samples
from rebelboost.distributed.agreement import Sizes, SpreadTable, sizes_of, table_of
from rebelboost.distributed.deciding import facts_of
from rebelboost.distributed.examples import count_distinct, found_examples
from rebelboost.distributed.growing import SpreadSampling
from rebelboost.distributed.holding import HeldSize, SpreadInput, hold_rows_out
from rebelboost.distributed.learners import SpreadLearner
from rebelboost.distributed.number_training import fit_numbers
from rebelboost.distributed.objectives import SpreadObjective
from rebelboost.distributed.racing import Choice, given_choice, raced, races, settled_choice
from rebelboost.distributed.refusals import check_costs_by_sample, check_spreadable
from rebelboost.distributed.rows import Describe, Encode, Price, Summarize, Weigh
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.steps import Weighting
from rebelboost.distributed.weights import SpreadHeldOut
from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.inputs import (
    check_agreement,
    deadline_of,
    encode_features,
    known_labels,
    learner_of,
    seed_of,
    threads_of,
    warn_of_few,
)
from rebelboost.estimators.regressor import RebelRegressor
from rebelboost.estimators.training import callbacks_of, rule_of, shrinkage_of, subcosts_of
from rebelboost.learners.similarity import Similarity
from rebelboost.model.comparisons import Comparisons
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedClassifier, Provenance

__all__ = ["SpreadInput", "fit_classes", "fit_spread", "read_rows"]

AnyRebel = TypeVar("AnyRebel", RebelClassifier, RebelRegressor)


class Known(NamedTuple):
    """What is known of the rows before training."""

    table: SpreadTable
    sizes: Sizes
    class_weight: Floats
    costs: Floats
    """(K, K) that decisions follow."""
    columns: CostColumns | None = None
    """Costs that columns of the table hold."""


def fit_spread(estimator: AnyRebel, spread: SpreadRows, given: SpreadInput) -> AnyRebel:
    """Fit a classifier or a regressor to the rows of all parts."""
    if isinstance(estimator, RebelRegressor):
        return fit_numbers(estimator, spread, given)
    return fit_classes(estimator, spread, given)


def fit_classes(clf: RebelClassifier, spread: SpreadRows, given: SpreadInput) -> RebelClassifier:
    """Fit a classifier to the rows of all parts."""
    clf.check_parameters()
    check_agreement(clf, validated=given.validation is not None)
    learner = learner_of(clf.learner)
    check_spreadable(clf, learner)
    given = given._replace(deadline=deadline_of(clf))
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
        table.encoder,
        table.classes,
        table.weight_shift,
        table.narrow,
        with_keys=clf.subsample < 1,
        numbered=clf.learner == "auto" or isinstance(learner_of(clf.learner), Similarity),
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
        by_sample, n_distinct, offset = False, None, None
    else:
        racing = races(clf, validated=given.validation is not None)
        neutral = clf.training == "neutral" or (
            racing
            and clf.training == "auto"
            and rule_of(clf).by_cost
            # Decisions know costs by class, and those in columns.
            and (known.columns is not None or not given.by_sample)
        )
        by_sample = given.by_sample and not neutral
        trained_on = uniform(len(classes)) if neutral else costs
        subcosts = subcosts_of(clf, costs)
        if by_sample:
            check_costs_by_sample(clf.loss, subcosts)
        choice = given_choice(clf)
        if racing:
            choice = raced(
                clf, spread, known.table, trained_on, by_sample=by_sample, subcosts=subcosts
            )
        else:
            choice = settled_choice(
                clf, choice, spread, known.table, costs, by_sample=given.by_sample
            )
        given = given._replace(by_sample=by_sample)
        known = known._replace(costs=trained_on)
        n_distinct = count_distinct(spread) if isinstance(choice.learner, Similarity) else None
        ensemble = _boosted(clf, spread, given, known, choice, history)
        offset = choice.offset
        decoder = Decoder(trained_on, choice.temperature, loss=clf.loss, subcosts=subcosts)
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
    if len(history.rounds) > len(ensemble):  # the parts hold scores of rounds that were dropped
        facts = {name: fact for name, fact in facts.items() if not name.startswith("cost_")}
    whole = clf.subsample == 1 and shrinkage_of(clf) == 1
    if whole and n_distinct is not None and model.ensemble.only(Comparisons):
        facts["n_points"] = float(n_distinct)
    examples = found_examples(spread, known.table, model.ensemble.example_rows)
    if offset is not None:
        ensemble = ensemble.plus(offset)
    kept = Provenance(known.sizes.missing, *examples, facts)
    return replace(model, ensemble=ensemble, provenance=kept)


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
        unit = known.sizes.units.weight
        held_size = hold_rows_out(spread, clf.validation_fraction, seed, n_classes, unit)
        summaries = spread.ask(Summarize(n_classes))
        sizes = sizes_of(summaries, weighted=given.weighted)
    weighting = _weighting(clf, known, given, sizes)
    settings = Settings(
        SpreadLearner(
            spread, choice.learner, known.table, sizes, None if given.by_sample else known.costs
        ),
        choice.rounds,
        choice.shrinkage,
        None if clf.tol == "auto" else float(clf.tol),
        SpreadObjective(spread, weighting, known.costs, sizes.n_rows, clf.loss),
        SpreadSampling(clf.subsample, choice.feature_subsample),
        clf.n_rounds_no_change if clf.early_stopping else None,
        seed=seed,
        n_threads=threads_of(clf.n_jobs),
    )
    with Hearing(callbacks_of(clf, settings.rounds)) as callbacks:
        return train(
            None,  # type: ignore[arg-type]  # the samples are with the parts
            settings,
            history=history,
            callbacks=[*callbacks, Deadline(given.deadline)],
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
        by_sample,
    )


def _held_out(
    clf: RebelClassifier,
    given: SpreadInput,
    known: Known,
    settings: Settings,
    held_size: HeldSize | None,
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
