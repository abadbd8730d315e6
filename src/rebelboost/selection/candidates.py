"""Candidates of learner="auto".

For classes: trees, smooth functions, logistic regression, similarities at each scale, and class frequencies.
For numbers: trees of several depths, and a smooth function.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Values
from rebelboost.boosting.settings import Recipe, Settings
from rebelboost.data.samples import Samples
from rebelboost.data.spaces import SCALES, scales_for, unmeasurable
from rebelboost.learners.kernel import MOST_ROWS, KernelSimilarity
from rebelboost.learners.logistic import Logistic
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.smooth import SmoothSimilarity
from rebelboost.learners.tree import Tree
from rebelboost.losses.classes import loss_kind
from rebelboost.losses.regression import regression_kind

LOOSE_SHRINKAGE, LOOSE_FEATURES = 0.1, 0.3
"""Settings of a candidate whose trees differ more from one another, as in a random forest."""
DEEP, DEEP_FEATURES = 10, 0.5
"""Depth, and share of the features in each round, of a candidate for deep interactions."""
DEEP_SHRINKAGE = 0.15
"""Shrinkage of this candidate with many samples: the error is the same after half as many rounds."""
ROUNDS_OF_STUMPS = 1000
"""Maximum number of rounds of single splits, which add up to a curve for each feature.

Their steps are those of deeper trees. With a third of them, the held-out log-loss of 13 data sets was higher
(0.558 instead of 0.520), after half as many rounds again.
"""
ROUNDS_OF_SIMILARITIES = 1500
"""Maximum number of rounds of similarities. They stop earlier when held-out results stagnate."""
MOST_FOR_SMOOTH = 5000
"""Maximum number of samples for smooth similarities. With more, they take long and gain little."""

MOST_FOR_LOGISTIC, FEATURES_FOR_LOGISTIC = 20_000, 100
"""Maximum number of samples, and of features, for logistic regression of two classes.

With more classes it gained nothing on the data sets for choosing (benchmarks/halves.py).
"""

TREES, SHALLOW, DEEP_TREES, SPLITS = Tree(), Tree(depth=3), Tree(depth=DEEP), Tree(depth=1)
SMOOTH_SIMILARITY, KERNEL, LOGISTIC = SmoothSimilarity(), KernelSimilarity(), Logistic()
SIMILARITIES = {scale: Similarity(scale=scale) for scale in SCALES}
"""Learners of the candidates."""

INSTEAD = "standard"
"""Scale of the boosted similarities whose place the kernel machine takes."""

FREQUENCIES = "class frequencies"
"""Name of the candidate that ignores all features."""
SCALE_NAMES = {"none": "unscaled", "standard": "standardised", "whitened": "whitened"}
"""Names of the scales in the candidates' names."""


class Entry(NamedTuple):
    """A candidate: its name, and its settings."""

    name: str
    settings: Settings


def class_candidates(
    settings_of: Callable[[Any], Settings], samples: Samples, *, neutral: bool = True
) -> list[Entry]:
    """List the candidates, cheapest first. `settings_of` returns the user's settings for a learner.

    `neutral`: all mistakes cost the same in training, which smooth similarities require.
    """
    usual = settings_of(TREES)
    running = [
        Entry("trees of depth 3", settings_of(SHALLOW)),
        Entry("trees of depth 6", usual),
    ]
    frequencies = Entry(FREQUENCIES, replace(usual, rounds=1))
    if usual.sampling.feature_subsample < 1 or usual.shrinkage != TREES.shrinkage:
        return [*running, frequencies]  # the user has set the step size or the share of features
    scales = scales_for(samples.X, samples.categories)
    smooths = loss_kind(usual.objective.loss).is_multiplied and bool(scales)
    if smooths and neutral and len(samples) <= MOST_FOR_SMOOTH:
        running.append(Entry("smooth similarities", settings_of(SMOOTH_SIMILARITY)))
    if neutral and _takes_logistic(usual, samples):
        running.append(Entry("logistic regression", settings_of(LOGISTIC)))
    if smooths and neutral and len(samples) <= MOST_ROWS and KERNEL.scale in scales:
        running.append(Entry("kernel machine", settings_of(KERNEL)))
        scales = tuple(scale for scale in scales if scale != INSTEAD)
    running += [
        Entry("trees with small steps", _small_steps(usual, LOOSE_FEATURES)),
        Entry("trees of depth 10", _deep(settings_of(DEEP_TREES), len(samples))),
        Entry("single splits", _many_rounds(settings_of(SPLITS))),
    ]
    if smooths:
        running += [_similarity(settings_of(SIMILARITIES[scale]), scale) for scale in scales]
    return [*running, frequencies]


def _takes_logistic(settings: Settings, samples: Samples) -> bool:
    """Whether logistic regression takes part: with two classes, and not too much to solve."""
    small = len(samples) <= MOST_FOR_LOGISTIC and samples.X.shape[1] <= FEATURES_FOR_LOGISTIC
    apt = loss_kind(settings.objective.loss).is_multiplied and samples.n_classes == 2
    return apt and small and bool(np.isfinite(np.nansum(np.abs(samples.X.astype(np.float64)))))


def _small_steps(settings: Settings, features: float) -> Settings:
    """The same learner with smaller steps, each on a random part of the features."""
    sampling = replace(settings.sampling, feature_subsample=features)
    return replace(settings, shrinkage=LOOSE_SHRINKAGE, sampling=sampling)


def _deep(settings: Settings, n_samples: int) -> Settings:
    """Deep trees, whose rounds take long: with many samples, their steps are larger."""
    chosen = _small_steps(settings, DEEP_FEATURES)
    return replace(chosen, shrinkage=DEEP_SHRINKAGE) if n_samples > MOST_FOR_SMOOTH else chosen


def _many_rounds(settings: Settings) -> Settings:
    """As many rounds as single splits need, unless the user has set the number of rounds."""
    own = settings.rounds != TREES.rounds
    return settings if own else replace(settings, rounds=ROUNDS_OF_STUMPS)


def _similarity(settings: Settings, scale: str) -> Entry:
    rounds = min(settings.rounds, ROUNDS_OF_SIMILARITIES)
    name = f"{SCALE_NAMES[scale]} similarities"
    return Entry(name, replace(settings, rounds=rounds))


# ---- regression

LEAST_MASS = 0.003
"""Minimum weight of a leaf, as a fraction of the weight that a tree is grown on."""


def _trees(depth: int, rounds: int) -> Recipe:
    return Recipe(Tree(depth=depth, least_mass=LEAST_MASS), rounds, 0.1, 0.3)


RECIPES = {
    "trees of depth 3": _trees(3, 1000),
    "trees of depth 5": _trees(5, 600),
    "fine trees of depth 6": Recipe(Tree(depth=6, least_mass=0.0005), 400, 0.1, 0.7, 0.7),
    "trees of depth 2": _trees(2, 1200),
    "single splits": _trees(1, 1000),
}
"""Boosted candidates by name. Those that often win run first, so that others can be dropped early."""
SMOOTH = Recipe(SmoothSimilarity(), 1, 1.0, 1.0, 1.0)
"""One function, solved at once by least squares."""


def regression_candidates(settings_of: Callable[[Recipe], Settings], X: Values) -> list[Entry]:
    """List the candidates, the cheapest first. `settings_of` lets the user's settings prevail over a recipe's.

    A candidate that differs from another only in what the user has set is omitted. A smooth function has
    no step size that could be set, minimises the squared loss only, and needs distances between samples.
    """
    running: list[Entry] = []
    smooth = settings_of(SMOOTH)
    free = smooth.shrinkage == 1 and smooth.sampling.feature_subsample == 1
    apt = regression_kind(smooth.objective.loss).of_means and len(X) <= MOST_FOR_SMOOTH
    if free and apt and unmeasurable(X) is None:
        running.append(Entry("smooth similarities", smooth))
    for name, recipe in RECIPES.items():
        settings = settings_of(recipe)
        if all(settings != entry.settings for entry in running):
            running.append(Entry(name, settings))
    return running
