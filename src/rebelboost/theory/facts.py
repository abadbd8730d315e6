"""Facts about the training samples that a guarantee needs and that the history does not contain."""

import numpy as np

from rebelboost.costs.judge import Judge
from rebelboost.costs.matrix import is_uniform
from rebelboost.data.folds import n_distinct
from rebelboost.data.samples import Samples
from rebelboost.model.comparisons import Comparisons
from rebelboost.model.fitted import FittedClassifier
from rebelboost.theory.bounds import zero_cost_level

FACTS = ("zero_level", "cost_at_argmax", "cost_as_decided", "n_points", "by_sample")
"""Names of the facts, each present only if known. `zero_level`, `cost_at_argmax` and `cost_as_decided` are
fields of `Guarantee`; `n_points` is the number of distinct samples, for similarities; `by_sample` is 1 if
costs were given by sample.
"""
SOON_SCORED = 20_000_000
"""Maximum number of samples × terms scored for these facts. This takes about 0.1 s."""


def training_facts(
    model: FittedClassifier, samples: Samples, *, whole_steps: bool, n_threads: int = 1
) -> dict[str, float]:
    """Compute the facts listed in `FACTS`.

    `whole_steps` is True if every round used all samples, without shrinkage.
    """
    trained = model.decoder.costs
    neutral = is_uniform(trained) and (model.by_sample or not is_uniform(model.costs))
    by_sample = samples.by_sample and not neutral
    labels = None if by_sample else samples.labels
    level = zero_cost_level(samples.costs if by_sample else trained, samples.weight, labels)
    facts = {"by_sample": 1.0} if by_sample else {}
    if np.isfinite(level):
        facts["zero_level"] = level
    if whole_steps and _has_proven_rate(model):
        facts["n_points"] = float(n_distinct(samples))
    return facts | _both_costs(model, samples, n_threads)


def _has_proven_rate(model: FittedClassifier) -> bool:
    """Whether a rate is proven: all terms are similarities, with the THESIS subcosts."""
    return model.ensemble.only(Comparisons) and model.subcosts == "thesis"


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
