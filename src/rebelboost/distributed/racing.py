"""learner="auto" on spread rows: candidates are compared on a sample, and the best is fitted to all rows.

The sample consists of the rows with the smallest hashes, so that it does not depend on the parts.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass, Floats
from rebelboost.boosting.fit import Settings
from rebelboost.boosting.objectives import ClassObjective
from rebelboost.boosting.sampling import Sampling
from rebelboost.data.folds import folds
from rebelboost.data.samples import Samples
from rebelboost.distributed.agreement import SpreadTable
from rebelboost.distributed.file_rows import in_memory
from rebelboost.distributed.parts import PartRows
from rebelboost.distributed.refusals import is_spreadable
from rebelboost.distributed.rows import SmallestKeys
from rebelboost.distributed.seam import SpreadRows
from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.inputs import learner_of, seed_of, threads_of
from rebelboost.estimators.training import is_race, subcosts_of
from rebelboost.learners.base import WeakLearner
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.tree import Tree
from rebelboost.selection.candidates import FREQUENCIES, candidates
from rebelboost.selection.crew import Crew
from rebelboost.selection.judging import ClassJudging
from rebelboost.selection.scale import settled
from rebelboost.selection.waves import Parts, winner

MOST_COMPARED = 10_000
"""Rows of the sample: as many as the ordinary estimator compares candidates on, for large tables."""
N_FOLDS = 5


class Choice(NamedTuple):
    """Settings of the fit to all rows."""

    learner: WeakLearner
    rounds: int
    shrinkage: float
    feature_subsample: float
    temperature: float = 1.0
    """Factor of the scores before they become probabilities."""
    offset: ByClass | None = None
    """(K,) what is added to the scores before; None: nothing."""


def given_choice(clf: RebelClassifier) -> Choice:
    """The settings that the user has chosen."""
    learner = learner_of(clf.learner)
    return Choice(
        learner,
        learner.rounds if clf.n_rounds == "auto" else int(clf.n_rounds),
        learner.shrinkage if clf.shrinkage == "auto" else float(clf.shrinkage),
        clf.feature_subsample,
    )


def races(clf: RebelClassifier, *, validated: bool) -> bool:
    """Whether candidates are compared."""
    named = is_race(clf.learner)
    return named and clf.cross_fit == "auto" and not (clf.early_stopping or validated)


def raced(
    clf: RebelClassifier,
    spread: SpreadRows,
    table: SpreadTable,
    costs: Floats,
    *,
    by_sample: bool,
    subcosts: str,
) -> Choice:
    """Compare candidates on a sample of the rows, and choose the best.

    `costs` are (K, K), unless they are trained on by sample.
    """
    seed = seed_of(clf.random_state)
    samples = _samples(sampled(spread, seed), table, costs, by_sample=by_sample)

    def settings_of(learner: WeakLearner) -> Settings:
        return Settings(
            learner,
            learner.rounds if clf.n_rounds == "auto" else int(clf.n_rounds),
            learner.shrinkage if clf.shrinkage == "auto" else float(clf.shrinkage),
            None if clf.tol == "auto" else float(clf.tol),
            ClassObjective(clf.loss, subcosts),
            Sampling(feature_subsample=clf.feature_subsample),
            seed=seed,
            n_threads=threads_of(clf.n_jobs),
        )

    running = [
        each
        for each in candidates(settings_of, samples, neutral=not by_sample)
        if each.name != FREQUENCIES
        and is_spreadable(each.settings.learner)
        and (clf.learner == "auto" or isinstance(each.settings.learner, Tree))
    ]
    left_out = folds(samples, N_FOLDS, seed)[:1]
    if not left_out:
        return given_choice(clf)
    judging = ClassJudging(samples, samples, clf.loss, subcosts)
    found = winner(judging, running, Parts(left_out), Crew(threads_of(clf.n_jobs)))
    chosen = found.settings
    return Choice(
        chosen.learner,
        found.rounds,
        chosen.shrinkage,
        chosen.sampling.feature_subsample,
        found.factor,
        found.offset if found.offset.any() else None,
    )


def settled_choice(
    clf: RebelClassifier,
    choice: Choice,
    spread: SpreadRows,
    table: SpreadTable,
    costs: Floats,
    *,
    by_sample: bool,
) -> Choice:
    """The same with scale="auto" of similarities replaced by the scale that is best on a sample."""
    if not isinstance(choice.learner, Similarity) or choice.learner.scale != "auto":
        return choice
    settings = Settings(
        choice.learner,
        choice.rounds,
        choice.shrinkage,
        None if clf.tol == "auto" else float(clf.tol),
        ClassObjective(clf.loss, subcosts_of(clf, costs)),
        Sampling(clf.subsample, clf.feature_subsample),
        seed=seed_of(clf.random_state),
        n_threads=threads_of(clf.n_jobs),
    )
    samples = _samples(sampled(spread, settings.seed), table, costs, by_sample=by_sample)
    return choice._replace(learner=settled(settings, samples).learner)


def _samples(rows: PartRows, table: SpreadTable, costs: Floats, *, by_sample: bool) -> Samples:
    samples = Samples(
        in_memory(rows.X),
        rows.labels,
        costs,
        weight=rows.weight,
        categorical=table.encoder.categorical,
    )
    if by_sample:
        assert rows.costs is not None
        samples = replace(samples, costs=rows.costs, by_sample=True)
    return samples


def sampled(spread: SpreadRows, seed: int) -> PartRows:
    """The rows with the smallest hashes, in the order of their hashes."""
    found = [own for own in spread.ask(SmallestKeys(MOST_COMPARED, seed)) if len(own[0])]
    keys = np.concatenate([own for own, _ in found])
    rows = found[0][1]
    for _, own in found[1:]:
        rows = rows.joined(own)
    # Rows with equal hashes are equal but for their weights and costs.
    others = [] if rows.costs is None else list(rows.costs.T)
    others += [] if rows.weight is None else [rows.weight]
    order = np.lexsort((*others, keys))[:MOST_COMPARED]
    return replace(rows.take(order.astype(np.int64)), labels=rows.labels[order].astype(np.int32))
