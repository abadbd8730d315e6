"""Training of a classifier: choose the fits and their settings, then assemble the fitted model."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rebelboost.base.arrays import Floats
from rebelboost.boosting.callbacks import Callback, Deadline, Hearing, Progress
from rebelboost.boosting.cost_learning import expected_by_sample, learn_costs
from rebelboost.boosting.fit import Settings, follow, train
from rebelboost.boosting.notebook import NotebookProgress, in_notebook
from rebelboost.boosting.objectives import ClassObjective
from rebelboost.boosting.rounds import History
from rebelboost.boosting.sampling import Sampling
from rebelboost.costs.decision import DecisionRule
from rebelboost.costs.matrix import class_costs, is_uniform
from rebelboost.costs.posterior import Decoder
from rebelboost.data.folds import held_out_part
from rebelboost.data.samples import Samples
from rebelboost.estimators.inputs import (
    Given,
    encode_features,
    index_labels,
    known_labels,
    learner_of,
    missing_features,
    seed_of,
    threads_of,
)
from rebelboost.learners.base import WeakLearner
from rebelboost.learners.smooth import SmoothSimilarity
from rebelboost.learners.tree import Tree
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedClassifier, Provenance
from rebelboost.selection.blend import CrossFit
from rebelboost.selection.candidates import Entry, candidates
from rebelboost.selection.crew import Crew
from rebelboost.selection.judging import ClassJudging, neutral
from rebelboost.selection.race import n_parts_of, select
from rebelboost.selection.scale import settled
from rebelboost.theory.facts import SampleUse, training_facts

if TYPE_CHECKING:
    from rebelboost.estimators.classifier import RebelClassifier

Validation = tuple[Any, ArrayLike] | None
RACES = ("auto", "auto_trees")
"""Learners that compare candidates."""
CROSS_FITTED = (*RACES, "tree")
"""Learners that are cross-fitted by default also if all mistakes cost the same: a single fit of trees has
probabilities that are far too sure."""
N_FOLDS, N_FOLDS_ALONE = 5, 10
"""Number of folds of a cross-fit by default: of several candidates, and of one."""


def is_race(learner: Any) -> bool:
    """Whether a learner stands for several candidates, which are compared."""
    return isinstance(learner, str) and learner in RACES


FEWEST_TO_CROSS_FIT = 20
"""Fewest samples for a cross-fit by default: smaller folds are too noisy to compare on.

With 30 samples a cross-fit already helps; see docs/learners.md.
"""


class SingleFit(NamedTuple):
    """Result of one fit. `CrossFit` has the same fields for several fits."""

    ensemble: Ensemble
    history: History


def shrinkage_of(clf: "RebelClassifier") -> float:
    """Shrinkage of a single fit."""
    own = learner_of(clf.learner).shrinkage
    return float(own if clf.shrinkage == "auto" else clf.shrinkage)


def rule_of(clf: "RebelClassifier") -> DecisionRule:
    """Decision rule given by the classifier's parameters."""
    return DecisionRule(clf.decision, clf.reject_cost, clf.reject_label)


# ---- fits


def train_terms(
    clf: "RebelClassifier",
    given: Given,
    validation: Validation,
    start: FittedClassifier | None,
    deadline: float,
) -> tuple[CrossFit | SingleFit, Decoder]:
    """Fit once, or several times on parts of the samples; return also what decodes the scores."""
    seed = seed_of(clf.random_state)
    if len(given.classes) == 1:
        return SingleFit(Ensemble.of((), 1), History()), Decoder(given.costs, loss=clf.loss)
    subcosts = subcosts_of(clf, given.costs)
    settings_of = _settings_of(clf, given, subcosts, seed)
    n_folds = _n_folds(clf, given, subcosts, validation)
    if n_folds:
        return _fit_parts(clf, given, settings_of, n_folds, deadline)
    settings = settings_of(given.learner)
    samples, costs = given.samples, given.costs
    if clf.training == "neutral":
        samples = neutral(samples)
        costs = samples.costs
    samples, held = _hold_out(clf, given, samples, validation, seed)
    history = History() if start is None else clf.history_
    with Hearing(callbacks_of(clf, settings.rounds)) as callbacks:
        ensemble = train(
            samples,
            settings,
            history=history,
            callbacks=[*callbacks, Deadline(deadline)],
            held=None if held is None else follow(held, settings),
            start=None if start is None else start.ensemble,
        )
    decoder = Decoder(costs, loss=clf.loss, subcosts=subcosts)
    return SingleFit(ensemble, history), decoder


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


def subcosts_of(clf: "RebelClassifier", costs: Floats) -> str:
    """Scheme of subcosts: the user's choice, or the one for which the loss bounds the cost."""
    if clf.subcosts != "auto":
        return clf.subcosts
    plain = clf.loss == "exponential" or clf.training == "neutral" or is_uniform(costs)
    return "thesis" if plain else "rebel"


def _n_folds(clf: "RebelClassifier", given: Given, subcosts: str, validation: Validation) -> int:
    if clf.cross_fit != "auto":
        return int(clf.cross_fit or 0)
    if clf.early_stopping or clf.warm_start or validation is not None:
        return 0
    few = n_parts_of(len(given.samples), N_FOLDS) == N_FOLDS
    n_folds = N_FOLDS_ALONE if few and not is_race(clf.learner) else N_FOLDS
    if isinstance(given.learner, SmoothSimilarity):
        return n_folds
    if is_uniform(given.costs) and not given.samples.by_sample:
        apt = isinstance(clf.learner, str) and clf.learner in CROSS_FITTED
    else:  # the decision needs a posterior
        apt = rule_of(clf).by_cost and subcosts == "thesis"
    return n_folds if apt and len(given.samples) >= FEWEST_TO_CROSS_FIT else 0


def _fit_parts(
    clf: "RebelClassifier",
    given: Given,
    settings_of: Callable[[WeakLearner], Settings],
    n_folds: int,
    deadline: float,
) -> tuple[CrossFit, Decoder]:
    samples = given.samples
    way = clf.training
    if way == "auto":
        way = "neutral" if rule_of(clf).by_cost else "costs"
    alike = way == "neutral" or (is_uniform(given.costs) and not samples.by_sample)
    if is_race(clf.learner):
        running = candidates(settings_of, samples, neutral=alike)
        if clf.learner == "auto_trees":
            running = [each for each in running if isinstance(each.settings.learner, Tree)]
    else:
        if isinstance(given.learner, SmoothSimilarity) and not alike:
            raise ValueError(
                f"SmoothSimilarity cannot be trained on costs, as training={clf.training!r} with "
                f"decision={clf.decision!r} asks: set training='neutral', and the costs act in the decision"
            )
        running = [Entry("the learner", settings_of(given.learner))]
    rounds = n_folds * sum(candidate.settings.rounds for candidate in running)
    deciding = samples
    if samples.by_sample and way == "neutral":
        deciding = replace(samples, decided_by=_expected_costs(clf, given))
    trained_on = neutral(samples) if way == "neutral" else samples
    judging = ClassJudging(trained_on, deciding, clf.loss, subcosts_of(clf, given.costs))
    with Hearing(callbacks_of(clf, rounds, n_folds=n_folds)) as callbacks:
        crew = Crew(threads_of(clf.n_jobs), callbacks, in_turn=bool(clf.callbacks))
        n_parts = n_parts_of(len(samples), n_folds) if clf.cross_fit == "auto" else n_folds
        found = select(judging, running, n_folds, n_parts=n_parts, crew=crew, deadline=deadline)
    return found, judging.decoder(found.temperature)


def _expected_costs(clf: "RebelClassifier", given: Given) -> Floats:
    """(N, K, K) by which left-out samples are decided: from columns, or learned from other samples."""
    samples = given.samples
    if given.columns is not None:
        names = list(map(str, clf.feature_names_in_))
        return given.columns.applied(given.costs, samples.X, names)
    return expected_by_sample(samples, n_threads=threads_of(clf.n_jobs))


def _settings_of(
    clf: "RebelClassifier", given: Given, subcosts: str, seed: int
) -> Callable[[WeakLearner], Settings]:
    """The user's settings for any learner."""
    sampling = Sampling(clf.subsample, clf.feature_subsample, clf.weight_trimming)
    objective, n_threads = ClassObjective(clf.loss, subcosts), threads_of(clf.n_jobs)

    def settings_of(learner: WeakLearner) -> Settings:
        chosen = Settings(
            learner,
            learner.rounds if clf.n_rounds == "auto" else int(clf.n_rounds),
            learner.shrinkage if clf.shrinkage == "auto" else float(clf.shrinkage),
            None if clf.tol == "auto" else float(clf.tol),
            objective,
            sampling,
            clf.n_rounds_no_change if clf.early_stopping else None,
            seed=seed,
            n_threads=n_threads,
        )
        return settled(chosen, given.samples)

    return settings_of


def _hold_out(
    clf: "RebelClassifier",
    given: Given,
    samples: Samples,
    validation: Validation,
    seed: int,
) -> tuple[Samples, Samples | None]:
    if validation is None:
        if not clf.early_stopping:
            return samples, None
        part = held_out_part(samples, clf.validation_fraction, seed)
        if part is None:  # every class has one sample, which training cannot do without
            return samples, None
        return samples.rows(part.kept), samples.rows(part.out)
    X, y = validation
    values = encode_features(clf, X, given.encoder)
    labels = known_labels(y, len(values), given.classes)
    return samples, Samples(values, labels, class_costs(samples), categorical=samples.categorical)


# ---- the model


def _learns_costs(model: FittedClassifier, given: Given) -> bool:
    """Whether decisions need costs that were given for training samples only.

    The posterior must be one of the classes as they are: trained as if all mistakes cost the same.
    """
    unknown = given.samples.by_sample and given.columns is None
    return unknown and model.rule.by_cost and is_uniform(model.decoder.costs)


def _is_precomputed(clf: "RebelClassifier") -> bool:
    """Whether the table holds distances, which are not values of a row."""
    return getattr(clf.learner, "metric", None) == "precomputed"


def assembled(
    clf: "RebelClassifier",
    X: Any,
    given: Given,
    trained: CrossFit | SingleFit,
    decoder: Decoder,
) -> FittedClassifier:
    """The fitted model, including what it keeps from the training table."""
    model = FittedClassifier(
        encoder=given.encoder,
        feature_names=getattr(clf, "feature_names_in_", None),
        ensemble=trained.ensemble,
        classes=given.classes,
        class_weight=given.class_weight,
        costs=given.costs,
        decoder=decoder,
        rule=rule_of(clf),
        columns=given.columns,
    )
    if _learns_costs(model, given):
        n_threads = threads_of(clf.n_jobs)
        learned = learn_costs(given.samples, n_threads=n_threads)
        model = replace(model, learned=learned)
    samples, rows = given.samples, model.ensemble.example_rows
    place = np.searchsorted(samples.rows_of_table, rows)  # rows_of_table is sorted
    whole = clf.subsample == 1 and clf.weight_trimming is None and shrinkage_of(clf) == 1
    used = SampleUse(whole, isinstance(trained, SingleFit) and not clf.early_stopping)
    kept = Provenance(
        missing_features(samples.X),
        index_labels(X, rows),
        dict(zip(rows, samples.labels[place].tolist(), strict=True)),
        None if _is_precomputed(clf) or not rows else samples.X[place],
        training_facts(model, samples, used, threads_of(clf.n_jobs)),
    )
    return replace(model, provenance=kept)
