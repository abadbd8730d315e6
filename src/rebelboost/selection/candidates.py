"""The candidates of the race: trees of several kinds, and similarities at each scale."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from rebelboost.boosting.fit import Settings
from rebelboost.data.spaces import SCALES
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.tree import Tree

LOOSE_SHRINKAGE, LOOSE_FEATURES = 0.1, 0.3
"""Of a candidate whose terms differ more from one another, as a forest's trees do."""


ROUNDS_OF_SIMILARITIES = 1500
"""At most, in the race: they stop by themselves when what is left out gets no better."""


SCALE_NAMES = {"none": "as they are", "standard": "standardised", "whitened": "whitened"}


class Entry(NamedTuple):
    """Settings to be tried, and what to call them."""

    name: str
    settings: Settings


def candidates(settings_of: Callable[[Any], Settings]) -> list[Entry]:
    """List what runs, cheapest first; `settings_of` gives the user's settings for a learner."""
    deep = settings_of(Tree())
    running = [
        Entry("trees of depth 3", settings_of(Tree(depth=3))),
        Entry("trees of depth 6", deep),
    ]
    if deep.sampling.feature_subsample < 1 or deep.shrinkage != Tree().shrinkage:
        return running  # the user has decided on steps and features
    running.append(Entry("slow trees on some features", _loose(deep)))
    if deep.objective.loss == "exponential":
        running += [_similarity(settings_of(Similarity(scale=scale)), scale) for scale in SCALES]
    return running


def _loose(settings: Settings) -> Settings:
    """The same learner in smaller steps, each of which sees some of the features only."""
    sampling = replace(settings.sampling, feature_subsample=LOOSE_FEATURES)
    return replace(settings, shrinkage=LOOSE_SHRINKAGE, sampling=sampling)


def _similarity(settings: Settings, scale: str) -> Entry:
    rounds = min(settings.rounds, ROUNDS_OF_SIMILARITIES)
    name = f"similarities, {SCALE_NAMES[scale]}"
    return Entry(name, replace(settings, rounds=rounds))
