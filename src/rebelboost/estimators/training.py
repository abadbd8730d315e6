"""From a user's table and a classifier's parameters to terms: which samples, which fits, what is remembered."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rebelboost.base.arrays import Floats
from rebelboost.boosting.callbacks import Hearing
from rebelboost.boosting.fit import follow, train
from rebelboost.boosting.rounds import History
from rebelboost.boosting.sampling import Sampling
from rebelboost.boosting.settings import Settings
from rebelboost.costs.decision import DecisionRule
from rebelboost.costs.matrix import class_costs, cost_matrix, cost_rows, is_uniform
from rebelboost.costs.posterior import Decoder
from rebelboost.data.folds import n_distinct, split
from rebelboost.data.samples import Problem
from rebelboost.estimators.base import callbacks_of
from rebelboost.estimators.inputs import (
    check_same_classes,
    checked_table,
    checked_weight,
    encode_labels,
    index_labels,
    known_labels,
    missing_features,
    threads_of,
    warn_of_few,
)
from rebelboost.learners.binary import Binary
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedClassifier, Provenance, example_rows
from rebelboost.selection.blend import CrossFit, neutral
from rebelboost.selection.candidates import Candidate, candidates
from rebelboost.selection.race import select
from rebelboost.selection.scale import settled
from rebelboost.theory.facts import training_facts

if TYPE_CHECKING:
    from rebelboost.estimators.classifier import RebelClassifier

Learner = Stump | Tree | Similarity | Binary
Validation = tuple[Any, ArrayLike] | None
LEARNERS: dict[str, Learner] = {
    "auto": Tree(),
    "tree": Tree(),
    "stump": Stump(),
    "similarity": Similarity(),
}
FEWEST_TO_CROSS_FIT = 20
"""With fewer distinct samples, parts of them say too little. Of 30 they say much: see docs/learners.md."""


class SingleFit(NamedTuple):
    """What `CrossFit` has of several fits."""

    ensemble: Ensemble
    decoder: Decoder
    history: History


def learner_of(given: str | Learner) -> Learner:
    """The learner that a name stands for."""
    return LEARNERS[given] if isinstance(given, str) else given


def shrinkage_of(clf: "RebelClassifier") -> float:
    """Of a single fit."""
    own = learner_of(clf.learner).shrinkage
    return float(own if clf.shrinkage == "auto" else clf.shrinkage)


def rule_of(clf: "RebelClassifier") -> DecisionRule:
    """How it decides, by its parameters."""
    return DecisionRule(clf.decision, clf.reject_cost, clf.reject_label)


# ---- samples


def read_samples(
    clf: "RebelClassifier",
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    costs: ArrayLike | None,
    start: FittedClassifier | None,
) -> tuple[FittedClassifier, Problem]:
    """Check what was given to `fit`: a model that has no terms yet, and the samples to train it on."""
    table = checked_table(clf, X, reset=start is None)
    encoder = table.encoder(learner_of(clf.learner).categorical) if start is None else start.encoder
    values = table.encoded(encoder)
    classes, labels = encode_labels(y, len(values))
    if start is not None:
        check_same_classes(start.classes, classes)
    warn_of_few(classes, labels)
    weight = checked_weight(sample_weight, values)
    counts = np.bincount(labels, weight, len(classes)).astype(np.float64)
    matrix = cost_matrix(clf.costs, list(classes), counts)
    by_sample = costs is not None
    paid = cost_rows(costs, labels, len(classes), list(classes)) if by_sample else matrix
    problem = Problem(values, labels, paid, by_sample, weight)
    if weight is not None and not weight.all():
        problem = problem.rows(weight > 0)
    decided = class_costs(problem) if by_sample else matrix
    model = FittedClassifier(
        encoder=encoder,
        feature_names=getattr(clf, "feature_names_in_", None),
        ensemble=Ensemble((), len(classes)),
        classes=classes,
        class_weight=counts,
        costs=decided,
        decoder=Decoder(decided, loss=clf.loss),
        subcosts=_subcosts(clf, decided),
        rule=rule_of(clf),
    )
    return model, problem


def _subcosts(clf: "RebelClassifier", costs: Floats) -> str:
    if clf.subcosts != "auto":
        return clf.subcosts
    plain = clf.loss == "exponential" or clf.training == "neutral" or is_uniform(costs)
    return "thesis" if plain else "rebel"


# ---- fits


def train_terms(
    clf: "RebelClassifier",
    model: FittedClassifier,
    problem: Problem,
    validation: Validation,
    start: FittedClassifier | None,
    seed: int,
) -> CrossFit | SingleFit:
    """Fit once, or several times on parts of the samples."""
    if len(model.classes) == 1:
        return SingleFit(model.ensemble, model.decoder, History())
    settings_of = _settings_of(clf, model, problem, seed)
    n_folds = _n_folds(clf, model, problem, validation)
    if n_folds:
        return _fit_parts(clf, model, problem, settings_of, n_folds)
    settings = settings_of(learner_of(clf.learner))
    if clf.training == "neutral":
        problem = neutral(problem)
    decoder = Decoder(class_costs(problem), loss=clf.loss)
    problem, held = _hold_out(clf, model, problem, validation, seed)
    history = clf.history_ if start is not None else History()
    with Hearing(callbacks_of(clf, settings.rounds)) as callbacks:
        ensemble = train(
            problem,
            settings,
            model.encoder.categorical,
            callbacks=[history, *callbacks],
            held=follow(held, settings),
            start=None if start is None else start.ensemble,
        )
    return SingleFit(ensemble, decoder, history)


def _n_folds(
    clf: "RebelClassifier", model: FittedClassifier, problem: Problem, validation: Validation
) -> int:
    if clf.cross_fit != "auto":
        return int(clf.cross_fit or 0)
    if is_uniform(model.costs):
        apt = clf.learner == "auto"
    else:  # the decision needs a posterior
        apt = model.rule.by_cost and model.subcosts == "thesis"
    apt &= not (clf.early_stopping or clf.warm_start or validation is not None)
    return 5 if apt and n_distinct(problem) >= FEWEST_TO_CROSS_FIT else 0


def _fit_parts(
    clf: "RebelClassifier",
    model: FittedClassifier,
    problem: Problem,
    settings_of: Callable[[Learner], Settings],
    n_folds: int,
) -> CrossFit:
    way = clf.training
    if way == "auto":
        way = "neutral" if model.rule.by_cost else "costs"
    if clf.learner == "auto":
        running = candidates(settings_of)
    else:
        running = [Candidate("the learner", settings_of(learner_of(clf.learner)))]
    rounds = n_folds * sum(candidate.settings.rounds for candidate in running)
    with Hearing(callbacks_of(clf, rounds)) as callbacks:
        return select(
            neutral(problem) if way == "neutral" else problem,
            running,
            model.encoder.categorical,
            n_folds,
            callbacks=callbacks,
            deciding=problem,
            time_budget=clf.time_budget,
        )


def _settings_of(
    clf: "RebelClassifier", model: FittedClassifier, problem: Problem, seed: int
) -> Callable[[Learner], Settings]:
    """The user's settings for any learner."""
    sampling = Sampling(clf.subsample, clf.feature_subsample, clf.weight_trimming)
    n_threads = threads_of(clf.n_jobs)

    def settings_of(learner: Learner) -> Settings:
        chosen = Settings(
            learner,
            learner.rounds if clf.n_rounds == "auto" else int(clf.n_rounds),
            learner.shrinkage if clf.shrinkage == "auto" else float(clf.shrinkage),
            None if clf.tol == "auto" else float(clf.tol),
            model.subcosts,
            sampling,
            clf.n_rounds_no_change if clf.early_stopping else None,
            seed=seed,
            n_threads=n_threads,
            loss=clf.loss,
        )
        return settled(chosen, problem, model.encoder.categorical)

    return settings_of


def _hold_out(
    clf: "RebelClassifier",
    model: FittedClassifier,
    problem: Problem,
    validation: Validation,
    seed: int,
) -> tuple[Problem, Problem | None]:
    if validation is None:
        return split(problem, clf.validation_fraction if clf.early_stopping else 0.0, seed)
    X, y = validation
    values = checked_table(clf, X, reset=False).encoded(model.encoder)
    labels = known_labels(y, len(values), model.classes)
    return problem, Problem(values, labels, class_costs(problem))


# ---- memory


def provenance_of(
    clf: "RebelClassifier", model: FittedClassifier, X: Any, problem: Problem
) -> Provenance:
    """What reasons and guarantees need to remember of the training table."""
    rows = example_rows(model.ensemble)
    place = np.searchsorted(problem.rows_of_table, rows)  # which rise
    whole = clf.subsample == 1 and clf.weight_trimming is None and shrinkage_of(clf) == 1
    return Provenance(
        missing_features(problem.X),
        index_labels(X, rows),
        dict(zip(rows, problem.labels[place].tolist(), strict=True)),
        training_facts(model, problem, whole_steps=whole, n_threads=threads_of(clf.n_jobs)),
    )
