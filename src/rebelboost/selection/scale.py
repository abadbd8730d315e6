"""scale="auto": choose the simplest scale that is about as good as the best on held-out samples."""

from dataclasses import replace
from typing import Any

import numpy as np

from rebelboost.base.arrays import BySample
from rebelboost.base.hashing import hash_rows
from rebelboost.boosting.fit import train
from rebelboost.boosting.settings import Settings
from rebelboost.data.equal_samples import merge_equal
from rebelboost.data.folds import Part, folds
from rebelboost.data.samples import Samples
from rebelboost.data.spaces import SCALES, Scale, scales_for
from rebelboost.learners.base import traits_of
from rebelboost.model.terms import Queries
from rebelboost.rows.base import MemoryRows

MOST_SAMPLES = 3000
"""Maximum number of samples on which scales are compared, by 3-fold cross-validation."""
ROUNDS = 300
"""Maximum number of rounds of each of these fits."""
FAR_BEHIND = 2.0
"""A scale this many standard errors above the best after a fold is not tried on further folds."""


def choose_scale(settings: Settings, samples: Samples) -> Settings:
    """Replace scale="auto" in a learner's settings by the chosen scale."""
    learner: Any = settings.learner
    if not traits_of(learner).has_scales or learner.scale != "auto":
        return settings
    if not learner.is_scaled:
        return replace(settings, learner=replace(learner, scale="none"))
    some, _ = merge_equal(samples)  # standard errors count samples, whatever their weight
    if len(some) > MOST_SAMPLES:
        some = some.take(np.argsort(hash_rows(some.X, 1), kind="stable")[:MOST_SAMPLES])
    left_out = folds(some, 3, settings.seed)
    if not left_out:  # every class has only one sample
        return replace(settings, learner=replace(learner, scale="standard"))

    def tried(scale: Scale) -> Settings:
        rounds = min(ROUNDS, settings.rounds)
        return replace(
            settings, learner=replace(learner, scale=scale), rounds=rounds, patience=None
        )

    scales = scales_for(some.X, some.categories) or SCALES  # which will be refused, by name
    paid: dict[Scale, BySample] = {scale: np.empty(0) for scale in scales}
    for part in left_out:
        paid = {
            scale: np.append(costs, _held_out_costs(tried(scale), some, part))
            for scale, costs in paid.items()
        }
        paid = within(FAR_BEHIND, paid)
        if len(paid) == 1:
            break
    return replace(settings, learner=replace(learner, scale=plainest(paid)))


def within(n_errors: float, paid: dict[Scale, BySample]) -> dict[Scale, BySample]:
    """The scales whose total cost exceeds the lowest by at most `n_errors` standard errors.

    `paid` has the cost of every held-out sample. Differences are paired by sample.
    """
    best = min(paid, key=lambda scale: float(paid[scale].sum()))
    more = {scale: costs - paid[best] for scale, costs in paid.items()}
    return {
        scale: paid[scale]
        for scale, each in more.items()
        if each.sum() <= n_errors * np.sqrt(((each - each.mean()) ** 2).sum())
    }


def plainest(paid: dict[Scale, BySample]) -> Scale:
    """The first scale within one standard error of the best."""
    return next(iter(within(1, paid)))


def _held_out_costs(settings: Settings, samples: Samples, part: Part) -> BySample:
    """(held-out samples,) what the decisions on them cost, times their weight."""
    ensemble = train(MemoryRows.of(samples.rows(part.kept), settings.n_threads), settings)
    held = samples.rows(part.out)
    scores = np.zeros((len(held.labels), ensemble.n_classes))
    ensemble.add_scores(Queries(held.X), scores, 0, len(ensemble), settings.n_threads)
    row = np.arange(len(scores)) if held.by_sample else held.labels
    paid = held.costs[row, scores.argmax(axis=1)]
    return paid if held.weight is None else paid * held.weight
