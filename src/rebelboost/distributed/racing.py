"""learner="auto" on spread rows: trees are compared on a sample, and the best are fitted to all rows.

The sample consists of the rows with the smallest hashes, so that it does not depend on the parts.
"""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.boosting.fit import Settings
from rebelboost.boosting.objectives import ClassObjective
from rebelboost.boosting.sampling import Sampling
from rebelboost.data.folds import folds
from rebelboost.data.samples import Samples
from rebelboost.distributed.agreement import SpreadTable
from rebelboost.distributed.file_rows import in_memory
from rebelboost.distributed.rows import SmallestKeys
from rebelboost.distributed.seam import SpreadRows
from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.inputs import learner_of, seed_of, threads_of
from rebelboost.estimators.training import RACES
from rebelboost.learners.base import WeakLearner
from rebelboost.learners.tree import Tree
from rebelboost.selection.candidates import candidates
from rebelboost.selection.judging import ClassJudging
from rebelboost.selection.waves import Parts, cross_fit

MOST_COMPARED = 10_000
"""Rows of the sample: as many as the ordinary estimator compares candidates on, for large tables."""
N_FOLDS = 5


class Choice(NamedTuple):
    """Settings of the fit to all rows."""

    learner: Tree
    rounds: int
    shrinkage: float
    feature_subsample: float
    temperature: float = 1.0
    """Factor of the scores before they become probabilities."""


def given_choice(clf: RebelClassifier) -> Choice:
    """The settings that the user has chosen."""
    learner = learner_of(clf.learner)
    assert isinstance(learner, Tree)
    return Choice(
        learner,
        learner.rounds if clf.n_rounds == "auto" else int(clf.n_rounds),
        learner.shrinkage if clf.shrinkage == "auto" else float(clf.shrinkage),
        clf.feature_subsample,
    )


def races(clf: RebelClassifier, *, validated: bool) -> bool:
    """Whether candidates are compared."""
    named = isinstance(clf.learner, str) and clf.learner in RACES
    return named and clf.cross_fit == "auto" and not (clf.early_stopping or validated)


def raced(clf: RebelClassifier, spread: SpreadRows, table: SpreadTable, costs: Floats) -> Choice:
    """Compare kinds of trees on a sample of the rows, and choose the best; `costs` are (K, K)."""
    seed = seed_of(clf.random_state)
    samples = _sample(spread, table, costs, seed)
    judging = ClassJudging(samples, samples, clf.loss)
    n_threads = threads_of(clf.n_jobs)

    def settings_of(learner: WeakLearner) -> Settings:
        return Settings(
            learner,
            learner.rounds if clf.n_rounds == "auto" else int(clf.n_rounds),
            learner.shrinkage if clf.shrinkage == "auto" else float(clf.shrinkage),
            0.0,
            ClassObjective(clf.loss),
            Sampling(feature_subsample=clf.feature_subsample),
            seed=seed,
            n_threads=n_threads,
        )

    every = candidates(settings_of, samples)
    running = [each for each in every if isinstance(each.settings.learner, Tree)]
    left_out = folds(samples, N_FOLDS, seed)[:1]
    if not left_out:
        return given_choice(clf)
    found = cross_fit(judging, running, Parts(left_out))
    best = max(found.standings, key=lambda standing: standing.share)
    (chosen,) = (each.settings for each in running if each.name == best.name)
    alone = cross_fit(
        judging, [each for each in running if each.name == best.name], Parts(left_out)
    )
    assert isinstance(chosen.learner, Tree)
    return Choice(
        chosen.learner,
        best.rounds,
        chosen.shrinkage,
        chosen.sampling.feature_subsample,
        alone.temperature,
    )


def _sample(spread: SpreadRows, table: SpreadTable, costs: Floats, seed: int) -> Samples:
    """The rows with the smallest hashes, in the order of their hashes."""
    found = [own for own in spread.ask(SmallestKeys(MOST_COMPARED, seed)) if len(own[0])]
    keys = np.concatenate([own for own, _ in found])
    rows = [own for _, own in found]
    X, labels = (
        np.concatenate([in_memory(own.X) for own in rows]),
        np.concatenate([own.labels for own in rows]).astype(np.int32),
    )
    weight = None
    if rows[0].weight is not None:
        weight = np.concatenate([own.weight for own in rows if own.weight is not None])
    # Rows with equal hashes are equal but for their weights.
    order = np.lexsort((np.zeros(len(keys)) if weight is None else weight, keys))[:MOST_COMPARED]
    return Samples(
        X[order],
        labels[order],
        costs,
        weight=None if weight is None else weight[order],
        categorical=table.encoder.categorical,
    )
