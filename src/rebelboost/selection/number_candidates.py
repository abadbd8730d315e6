"""Candidates of learner="auto" in a regression: trees of several depths and step sizes."""

from collections.abc import Callable
from typing import NamedTuple

from rebelboost.boosting.fit import Settings
from rebelboost.learners.base import WeakLearner
from rebelboost.learners.tree import Tree
from rebelboost.selection.candidates import Entry

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
    "additive": Recipe(Tree(depth=1, least_mass=LEAST_MASS), 1500),
    "trees of depth 2": Recipe(Tree(depth=2, least_mass=LEAST_MASS), 1200),
    "trees of depth 3": Recipe(Tree(depth=3, least_mass=LEAST_MASS), 1000),
    "trees of depth 5": Recipe(Tree(depth=5, least_mass=LEAST_MASS), 600),
    "trees with small steps": Recipe(Tree(depth=6, least_mass=LEAST_MASS), 800, 0.05, 0.3, 0.5),
}
"""Candidates by name."""


def number_candidates(settings_of: Callable[[Recipe], Settings]) -> list[Entry]:
    """List the candidates. `settings_of` lets the user's settings prevail over a recipe's.

    A candidate that differs from another only in what the user has set is omitted.
    """
    running: list[Entry] = []
    for name, recipe in RECIPES.items():
        settings = settings_of(recipe)
        if all(settings != entry.settings for entry in running):
            running.append(Entry(name, settings))
    return running
