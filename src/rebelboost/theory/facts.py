"""Facts about the training samples that a guarantee needs and that the history does not contain: `FACTS`."""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.costs.judge import Judge
from rebelboost.costs.matrix import is_uniform
from rebelboost.data.equal_samples import n_distinct
from rebelboost.data.samples import Samples
from rebelboost.model.fitted import FittedClassifier
from rebelboost.theory.zero_cost import largest_floor, rebel_levels, zero_cost_level

SOON_SCORED = 20_000_000
"""Maximum number of samples × terms scored for these facts. This takes about 0.1 s."""


class SampleUse(NamedTuple):
    """How the rounds used the samples."""

    whole_steps: bool
    """Whether every round used all samples of its fit, without shrinkage."""
    all_samples: bool
    """Whether there is one fit, to all samples."""


def training_facts(
    model: FittedClassifier, samples: Samples, trained: SampleUse, n_threads: int = 1
) -> dict[str, float]:
    """Compute the facts listed in `FACTS`."""
    facts = _levels(model, samples, trained)
    bounded = [group.terms.is_bounded for group in model.ensemble.groups]
    if trained.whole_steps and bounded and all(bounded):
        facts["n_points"] = float(n_distinct(samples))
    return facts | _both_costs(model, samples, n_threads)


def _levels(model: FittedClassifier, samples: Samples, trained: SampleUse) -> dict[str, float]:
    """Levels of the loss, for the costs of the training."""
    costs, loss = model.decoder.costs, model.decoder.loss
    neutral = is_uniform(costs) and (model.by_sample or not is_uniform(model.costs))
    by_sample = samples.by_sample and not neutral
    facts = {"by_sample": 1.0} if by_sample else {}
    labels = None if by_sample else samples.labels
    rows = samples.costs if by_sample else costs
    # The two schemes are the same where all mistakes of a sample cost the same.
    rebel = model.subcosts == "rebel" or (
        not model.decoder.kind.thesis_bounds_cost and equal_within(rows)
    )
    if rebel and not may_mix(model, rows, by_sample=by_sample):
        levels = rebel_levels(rows, samples.weight, labels, loss)
        facts["floor"] = levels.floor if trained.all_samples else largest_floor(rows, loss)
        facts["least_loss"], level = levels.least_loss, levels.zero_level
    elif model.subcosts == "thesis" and model.decoder.kind.thesis_bounds_cost:
        facts["floor"] = 0.0
        level = zero_cost_level(rows, samples.weight, labels)
    else:
        level = 0.0
    # A fit to a part may see a share of a sample's weight, which could then hide a mistake.
    if trained.all_samples and np.isfinite(level) and level > 0:
        facts["zero_level"] = level
    return facts


def equal_within(rows: Floats) -> bool:
    """Whether all positive costs of each row are equal, and no more than one is 0."""
    n_largest = (rows == rows.max(axis=1, keepdims=True)).sum(axis=1)
    return bool((n_largest >= rows.shape[1] - 1).all())


def may_mix(model: FittedClassifier, rows: Floats, *, by_sample: bool) -> bool:
    """Whether coincident samples with different costs may have been merged: the levels are then unknown."""
    similar = any(group.terms.merges_equal for group in model.ensemble.groups)
    shared = bool(
        (rows == 0).sum() > len(rows)
    )  # a class that two others can be taken for at no cost
    return similar and (by_sample or shared or model.ensemble.unavoidable_cost > 0)


def _both_costs(model: FittedClassifier, samples: Samples, n_threads: int) -> dict[str, float]:
    """Mean training cost at argmax and as decided, if they can differ and are quick to compute."""
    too_many = len(samples.labels) * len(model.ensemble) > SOON_SCORED
    if not model.weighs_costs or too_many:
        return {}
    scores = model.scores(samples.X, n_threads)
    judge, costs = Judge.of(samples), model.costs_of(samples.X, n_threads=n_threads)
    return {
        "cost_at_argmax": judge.judge(np.argmax(scores, axis=1).astype(np.int32))[1],
        "cost_as_decided": judge.judge(model.decide(scores, costs))[1],
    }
