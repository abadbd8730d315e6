"""Training of a regressor: read the samples, choose the fits and their settings, assemble the model."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rebelboost.boosting.callbacks import Deadline, Hearing
from rebelboost.boosting.fit import Settings, follow, train
from rebelboost.boosting.objectives import NumberObjective
from rebelboost.boosting.regression import baseline, huber_delta
from rebelboost.boosting.rounds import History
from rebelboost.boosting.sampling import Sampling
from rebelboost.data.equal_samples import n_distinct
from rebelboost.data.folds import held_out_part
from rebelboost.data.samples import NumberSamples
from rebelboost.estimators.inputs import (
    Apart,
    check_apart,
    checked_weight,
    encode_features,
    index_labels,
    learn_features,
    missing_features,
    numbered,
    seed_of,
    threads_of,
)
from rebelboost.estimators.targets import check_spread, encode_target
from rebelboost.estimators.training import callbacks_of, is_race
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree
from rebelboost.model.ensemble import Ensemble, weighted_sum
from rebelboost.model.fitted import FittedRegressor, Provenance
from rebelboost.selection.blend import CrossFit
from rebelboost.selection.candidates import Entry
from rebelboost.selection.crew import Crew
from rebelboost.selection.judging import NumberJudging
from rebelboost.selection.number_candidates import LEAST_MASS, Recipe, number_candidates
from rebelboost.selection.race import n_parts_of, select
from rebelboost.selection.spread import learn_intervals
from rebelboost.selection.waves import share_of_time

if TYPE_CHECKING:
    from rebelboost.estimators.regressor import RebelRegressor

TREE = Tree(depth=5, least_mass=LEAST_MASS)
LEARNERS: dict[str, Stump | Tree] = {
    "auto": TREE,
    "auto_trees": TREE,
    "tree": TREE,
    "stump": Stump(),
}
FOR_RACE = 0.85
"""Share of a time budget for the model; the rest is for its intervals."""
FEW, ROUNDS_FOR_FEW = 500, 100
"""With fewer distinct samples, a single fit has so many rounds by default.

On the four sets for choosing with fewer (benchmarks/regression.py), the RMSE was 0.90 of LightGBM's, and 0.93
with 300 rounds.
"""
FEWEST_TO_RACE = 10
"""Fewest samples for a cross-fit by default."""


class NumberFit(NamedTuple):
    """The fitted model, and what is known of its fits."""

    model: FittedRegressor
    history: History
    cross_fit: CrossFit | None


def number_learner(given: str | Tree | Stump) -> Stump | Tree:
    """The learner that a name stands for, in a regressor."""
    return LEARNERS[given] if isinstance(given, str) else given


# ---- the input of a fit


def read_numbers(
    reg: "RebelRegressor",
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    apart: Apart,
    start: FittedRegressor | None,
) -> tuple[FittedRegressor, NumberSamples]:
    """Return a model without terms, and the samples to train it on."""
    check_apart(apart)
    if start is None:
        encoder, values = learn_features(reg, X, number_learner(reg.learner).categorical)
    else:
        encoder, values = start.encoder, encode_features(reg, X, start.encoder)
    target = encode_target(y, len(values))
    check_spread(target)
    weight = checked_weight(sample_weight, values)
    samples = NumberSamples(
        values,
        target,
        weight,
        encoder.categorical,
        groups=numbered(apart.groups, "groups", len(values)),
        times=numbered(apart.times, "times", len(values)),
    )
    if weight is not None and not weight.all():
        samples = samples.rows(weight > 0)
    first = baseline(reg.loss, samples.target, samples.weight) if start is None else start.baseline
    model = FittedRegressor(
        encoder=encoder,
        feature_names=getattr(reg, "feature_names_in_", None),
        ensemble=Ensemble.of((), 1),
        baseline=first,
        provenance=Provenance(missing_features(samples.X)),
    )
    return model, replace(samples, target=samples.target - first, given=samples.target)


# ---- fits


def train_numbers(
    reg: "RebelRegressor",
    X: Any,
    empty: FittedRegressor,
    samples: NumberSamples,
    validation: tuple[Any, ArrayLike] | None,
    start: FittedRegressor | None,
    deadline: float,
) -> NumberFit:
    """Fit once, or several times on parts of the samples, and assemble the model."""
    settings_of = _settings_of(reg, samples)
    n_folds = _n_folds(reg, samples, validation)
    if n_folds:
        found = _fit_parts(reg, empty, samples, settings_of, n_folds, deadline)
        return found._replace(model=_with_examples(found.model, X, samples))
    recipe = Recipe(number_learner(reg.learner))
    if not reg.early_stopping and n_distinct(samples) < FEW:
        recipe = recipe._replace(rounds=ROUNDS_FOR_FEW)
    settings = settings_of(recipe)
    samples, held = _hold_out(reg, empty, samples, validation, settings.seed)
    history = History() if start is None else reg.history_
    with Hearing(callbacks_of(reg, settings.rounds, ".4g")) as callbacks:
        ensemble = train(
            samples,
            settings,
            history=history,
            callbacks=[*callbacks, Deadline(deadline)],
            held=None if held is None else follow(held, settings),
            start=None if start is None else start.ensemble,
        )
    return NumberFit(replace(empty, ensemble=ensemble), history, None)


def _n_folds(reg: "RebelRegressor", samples: NumberSamples, validation: Any) -> int:
    if reg.cross_fit != "auto":
        return int(reg.cross_fit or 0)
    alone = reg.early_stopping or reg.warm_start or validation is not None
    if alone or not is_race(reg.learner):
        return 0
    return 5 if len(samples) >= FEWEST_TO_RACE else 0


def _fit_parts(
    reg: "RebelRegressor",
    empty: FittedRegressor,
    samples: NumberSamples,
    settings_of: Callable[[Recipe], Settings],
    n_folds: int,
    deadline: float,
) -> NumberFit:
    if is_race(reg.learner):
        running = number_candidates(settings_of, samples.X)
        if reg.learner == "auto_trees":
            running = [each for each in running if isinstance(each.settings.learner, Tree)]
    else:
        running = [Entry("the learner", settings_of(Recipe(number_learner(reg.learner))))]
    settings = max((each.settings for each in running), key=lambda each: each.rounds)
    judging = NumberJudging(samples, _objective(reg, samples))
    rounds = n_folds * sum(candidate.settings.rounds for candidate in running)
    with Hearing(callbacks_of(reg, rounds, ".4g", n_folds)) as callbacks:
        crew = Crew(threads_of(reg.n_jobs), callbacks, in_turn=bool(reg.callbacks))
        n_parts = n_parts_of(len(samples), n_folds) if reg.cross_fit == "auto" else n_folds
        found = select(
            judging,
            running,
            n_folds,
            n_parts=n_parts,
            crew=crew,
            deadline=share_of_time(deadline, FOR_RACE),
        )
    found = _stretched(found)
    intervals = learn_intervals(samples, found, settings, deadline)
    model = replace(empty, ensemble=found.ensemble, intervals=intervals)
    found = replace(found, left_out=found.left_out + model.baseline)
    return NumberFit(model, found.history, found)


def _with_examples(model: FittedRegressor, X: Any, samples: NumberSamples) -> FittedRegressor:
    """The same model with the training rows that its terms compare samples with."""
    rows = model.ensemble.example_rows
    place = np.searchsorted(samples.rows_of_table, rows)  # rows_of_table is sorted
    kept = replace(
        model.provenance,
        row_labels=index_labels(X, rows),
        example_classes=dict.fromkeys(rows, 0),
        example_values=samples.X[place] if rows else None,
    )
    return replace(model, provenance=kept)


def _stretched(found: CrossFit) -> CrossFit:
    """The same with its best factor in the terms: a regression has no decoder that could apply it."""
    factor = found.temperature
    ensemble = weighted_sum([found.ensemble], [factor])[0].on_grid()
    if len(ensemble) == 0:  # predictions that say nothing of new samples are dropped
        found.history.renumber_terms({})
    return replace(found, ensemble=ensemble, temperature=1.0, left_out=factor * found.left_out)


def _objective(reg: "RebelRegressor", samples: NumberSamples) -> NumberObjective:
    given = reg.huber_delta
    delta = huber_delta(samples.target, samples.weight) if given == "auto" else float(given)
    return NumberObjective(reg.loss, delta)


def _settings_of(reg: "RebelRegressor", samples: NumberSamples) -> Callable[[Recipe], Settings]:
    objective = _objective(reg, samples)
    patience = reg.n_rounds_no_change if reg.early_stopping else None

    def settings_of(recipe: Recipe) -> Settings:
        return replace(recipe_settings(reg, recipe, objective), patience=patience)

    return settings_of


def recipe_settings(reg: "RebelRegressor", recipe: Recipe, objective: NumberObjective) -> Settings:
    """A recipe's settings, unless the user has chosen others; without early stopping."""
    features = reg.feature_subsample
    return Settings(
        recipe.learner,
        recipe.rounds if reg.n_rounds == "auto" else int(reg.n_rounds),
        recipe.shrinkage if reg.shrinkage == "auto" else float(reg.shrinkage),
        float(reg.tol),
        objective,
        Sampling(
            recipe.subsample if reg.subsample == "auto" else float(reg.subsample),
            recipe.feature_subsample if features == "auto" else float(features),
            by_value=True,
        ),
        seed=seed_of(reg.random_state),
        n_threads=threads_of(reg.n_jobs),
    )


def _hold_out(
    reg: "RebelRegressor",
    empty: FittedRegressor,
    samples: NumberSamples,
    validation: tuple[Any, ArrayLike] | None,
    seed: int,
) -> tuple[NumberSamples, NumberSamples | None]:
    if validation is not None:
        X, y = validation
        values = encode_features(reg, X, empty.encoder)
        target = encode_target(y, len(values)) - empty.baseline
        return samples, NumberSamples(values, target, categorical=samples.categorical)
    if not reg.early_stopping:
        return samples, None
    part = held_out_part(samples, reg.validation_fraction, seed)
    if part is None:  # the only sample, which training cannot do without
        return samples, None
    return samples.rows(part.kept), samples.rows(part.out)
