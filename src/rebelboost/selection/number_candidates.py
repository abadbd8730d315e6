"""Candidates of learner="auto" in a regression: trees of several depths, and a smooth function."""

from collections.abc import Callable
from typing import NamedTuple

from rebelboost.base.arrays import Values
from rebelboost.boosting.fit import Settings
from rebelboost.data.scales import unmeasurable
from rebelboost.learners.base import WeakLearner
from rebelboost.learners.smooth import SmoothSimilarity
from rebelboost.learners.tree import Tree
from rebelboost.selection.candidates import MOST_FOR_SMOOTH, Entry

LEAST_MASS = 0.003
"""Minimum weight of a leaf, as a fraction of the weight that a tree is grown on."""


class Recipe(NamedTuple):
    """Settings of a candidate where the user has chosen none."""

    learner: WeakLearner
    rounds: int = 300
    """Maximum number of rounds. The number is chosen on held-out samples."""
    shrinkage: float = 0.1
    subsample: float = 0.3
    feature_subsample: float = 1.0


RECIPES = {
    "trees of depth 3": Recipe(Tree(depth=3, least_mass=LEAST_MASS), 1000),
    "trees of depth 5": Recipe(Tree(depth=5, least_mass=LEAST_MASS), 600),
    "fine trees of depth 6": Recipe(Tree(depth=6, least_mass=0.0005), 400, 0.1, 0.7, 0.7),
    "trees of depth 2": Recipe(Tree(depth=2, least_mass=LEAST_MASS), 1200),
    "single splits": Recipe(Tree(depth=1, least_mass=LEAST_MASS), 1000),
}
"""Boosted candidates by name. Those that often win run first, so that others can be dropped early."""
SMOOTH = Recipe(SmoothSimilarity(), 1, 1.0, 1.0, 1.0)
"""One function, solved at once by least squares."""


def number_candidates(settings_of: Callable[[Recipe], Settings], X: Values) -> list[Entry]:
    """List the candidates, the cheapest first. `settings_of` lets the user's settings prevail over a recipe's.

    A candidate that differs from another only in what the user has set is omitted. A smooth function has
    no step size that could be set, minimises the squared loss only, and needs distances between samples.
    """
    running: list[Entry] = []
    smooth = settings_of(SMOOTH)
    free = smooth.shrinkage == 1 and smooth.sampling.feature_subsample == 1
    apt = smooth.objective.loss == "squared" and len(X) <= MOST_FOR_SMOOTH
    if free and apt and unmeasurable(X) is None:
        running.append(Entry("smooth similarities", smooth))
    for name, recipe in RECIPES.items():
        settings = settings_of(recipe)
        if all(settings != entry.settings for entry in running):
            running.append(Entry(name, settings))
    return running
