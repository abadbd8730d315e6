"""Candidates of learner="auto": three kinds of trees, and similarities at each scale."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from rebelboost.boosting.fit import Settings
from rebelboost.data.spaces import SCALES
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.tree import Tree

LOOSE_SHRINKAGE, LOOSE_FEATURES = 0.1, 0.3
"""Settings of a candidate whose trees differ more from one another, as in a random forest."""


ROUNDS_OF_SIMILARITIES = 1500
"""Maximum number of rounds of similarities. They stop earlier when held-out results stagnate."""


SCALE_NAMES = {"none": "unscaled", "standard": "standardised", "whitened": "whitened"}
"""Names of the scales in the candidates' names."""


class Entry(NamedTuple):
    """A candidate: its name, and its settings."""

    name: str
    settings: Settings


def candidates(settings_of: Callable[[Any], Settings]) -> list[Entry]:
    """List the candidates, cheapest first. `settings_of` returns the user's settings for a learner."""
    deep = settings_of(Tree())
    running = [
        Entry("trees of depth 3", settings_of(Tree(depth=3))),
        Entry("trees of depth 6", deep),
    ]
    if deep.sampling.feature_subsample < 1 or deep.shrinkage != Tree().shrinkage:
        return running  # the user has set the step size or the share of features
    running.append(Entry("trees with small steps", _loose(deep)))
    if deep.objective.loss == "exponential":
        running += [_similarity(settings_of(Similarity(scale=scale)), scale) for scale in SCALES]
    return running


def _loose(settings: Settings) -> Settings:
    """The same learner with smaller steps, each on a random part of the features."""
    sampling = replace(settings.sampling, feature_subsample=LOOSE_FEATURES)
    return replace(settings, shrinkage=LOOSE_SHRINKAGE, sampling=sampling)


def _similarity(settings: Settings, scale: str) -> Entry:
    rounds = min(settings.rounds, ROUNDS_OF_SIMILARITIES)
    name = f"similarities, {SCALE_NAMES[scale]}"
    return Entry(name, replace(settings, rounds=rounds))
