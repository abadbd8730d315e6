"""Training of an ordinary regressor on spread rows: the model is the one that all rows in one place give."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rebelboost.boosting.callbacks import Deadline, Hearing
from rebelboost.boosting.fit import Settings, follow, train
from rebelboost.boosting.objectives import NumberObjective
from rebelboost.boosting.rounds import History
from rebelboost.boosting.state import HeldOut
from rebelboost.data.samples import NumberSamples
from rebelboost.distributed.agreement import Sizes, SpreadTable, sizes_of, table_of
from rebelboost.distributed.examples import has_few_rows
from rebelboost.distributed.growing import SpreadSampling
from rebelboost.distributed.holding import SpreadInput, hold_rows_out
from rebelboost.distributed.learners import SpreadLearner
from rebelboost.distributed.number_racing import NumberChoice, given_numbers, raced_numbers
from rebelboost.distributed.objectives import SpreadNumberObjective, WeightSums
from rebelboost.distributed.quantities import NumberLoss
from rebelboost.distributed.refusals import check_spreadable
from rebelboost.distributed.rows import Describe, Encode, Summarize
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.targets import first_prediction, spread_huber_delta, weight_sums
from rebelboost.distributed.weights import SpreadHeldOut
from rebelboost.estimators.inputs import deadline_of, encode_features, seed_of, threads_of
from rebelboost.estimators.number_training import FEW, ROUNDS_FOR_FEW, number_learner
from rebelboost.estimators.regressor import RebelRegressor
from rebelboost.estimators.targets import encode_target
from rebelboost.estimators.training import callbacks_of, is_race
from rebelboost.model.ensemble import Ensemble, weighted_sum
from rebelboost.model.fitted import FittedRegressor, Provenance


class KnownNumbers(NamedTuple):
    """What is known of the rows before training."""

    table: SpreadTable
    sizes: Sizes
    loss: NumberLoss
    weights: WeightSums


def fit_numbers(reg: RebelRegressor, spread: SpreadRows, given: SpreadInput) -> RebelRegressor:
    """Fit a regressor to the rows of all parts."""
    reg.check_parameters()
    reg.check_together(validated=given.validation is not None)
    check_spreadable(reg, number_learner(reg.learner))
    given = given._replace(deadline=deadline_of(reg))
    known = read_targets(reg, spread, given)
    reg.n_features_in_ = known.table.encoder.n_features
    if known.table.names is not None:
        reg.feature_names_in_ = known.table.names
    alone = reg.early_stopping or given.validation is not None
    few = not reg.early_stopping and has_few_rows(spread, FEW)
    choice = given_numbers(reg, ROUNDS_FOR_FEW if few else None)
    if is_race(reg.learner) and reg.cross_fit == "auto" and not alone:
        choice = raced_numbers(reg, spread, known.table, known.loss)
    history = History()
    ensemble = _boosted(reg, spread, given, known, choice, history)
    if choice.factor != 1:
        ensemble = weighted_sum([ensemble], [choice.factor])[0].on_grid()
        if len(ensemble) == 0:  # predictions that say nothing of new samples are dropped
            history.renumber_terms({})
    reg.model_ = FittedRegressor(
        encoder=known.table.encoder,
        feature_names=known.table.names,
        ensemble=ensemble,
        baseline=known.loss.baseline,
        provenance=Provenance(known.sizes.missing),
        intervals=choice.intervals,
    )
    reg.history_, reg.cross_fit_ = history, None
    return reg


def read_targets(reg: RebelRegressor, spread: SpreadRows, given: SpreadInput) -> KnownNumbers:
    """Check and encode the rows of all parts."""
    if given.by_sample:
        raise ValueError("a regression has no costs: leave out costs=")
    categorical = number_learner(reg.learner).categorical
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
    sums = weight_sums(spread, weighted=given.weighted)
    baseline = first_prediction(spread, reg.loss, sums)
    delta = 1.0 if reg.huber_delta == "auto" else float(reg.huber_delta)
    if reg.loss == "huber" and reg.huber_delta == "auto":
        delta = spread_huber_delta(spread, baseline, sums)
    return KnownNumbers(table, sizes, NumberLoss(reg.loss, delta, baseline), sums)


def _boosted(
    reg: RebelRegressor,
    spread: SpreadRows,
    given: SpreadInput,
    known: KnownNumbers,
    choice: NumberChoice,
    history: History,
) -> Ensemble:
    """Bin the rows, and boost."""
    seed, sizes, sums = seed_of(reg.random_state), known.sizes, known.weights
    has_held = False
    if reg.early_stopping and given.validation is None:
        size = hold_rows_out(spread, reg.validation_fraction, seed, 1, sizes.units.weight)
        has_held = size is not None
        sizes = sizes_of(spread.ask(Summarize(1)), weighted=given.weighted)
        sums = weight_sums(spread, weighted=given.weighted)
    objective = SpreadNumberObjective(spread, known.loss, sums)
    settings = Settings(
        SpreadLearner(spread, choice.learner, known.table, sizes),
        choice.rounds,
        choice.shrinkage,
        float(reg.tol),
        objective,
        SpreadSampling(choice.subsample, choice.feature_subsample),
        reg.n_rounds_no_change if reg.early_stopping else None,
        seed=seed,
        n_threads=threads_of(reg.n_jobs),
    )
    held: HeldOut | None = None
    if given.validation is not None:
        held = _validation(reg, given.validation, known, settings)
    elif has_held:
        held_sums = weight_sums(spread, weighted=given.weighted, held=True)
        nowhere: Any = None  # the samples are with the parts
        held = SpreadHeldOut(nowhere, objective.state_of(held_sums, held=True))
    with Hearing(callbacks_of(reg, settings.rounds, ".4g")) as callbacks:
        return train(
            None,  # type: ignore[arg-type]  # the samples are with the parts
            settings,
            history=history,
            callbacks=[*callbacks, Deadline(given.deadline)],
            held=held,
        )


def _validation(
    reg: RebelRegressor, given: tuple[Any, Any], known: KnownNumbers, settings: Settings
) -> HeldOut:
    X, y = given
    values = encode_features(reg, X, known.table.encoder)
    target = encode_target(y, len(values)) - known.loss.baseline
    categorical = known.table.encoder.categorical
    samples = NumberSamples(values, np.asarray(target), categorical=categorical)
    local = NumberObjective(known.loss.name, known.loss.delta)
    return follow(samples, replace(settings, objective=local))
