"""The parameter `monotone`: what it may say, and what a fitted model must then keep."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rebelboost.base.names import listed, printed
from rebelboost.costs.matrix import is_uniform
from rebelboost.learners.base import WeakLearner
from rebelboost.learners.monotone import MonotoneTree, monotone_learner
from rebelboost.model.fitted import FittedClassifier
from rebelboost.model.monotone import Directions, mended
from rebelboost.tasks.base import Table

CHECKED_TOGETHER = 3
"""From this number of classes on, training must treat all mistakes alike."""


def directions_of(given: Mapping[Any, int] | None, table: Table) -> dict[int, int]:
    """Feature → +1 or −1, from a dict of names or, without names, of indices."""
    if given is None:
        return {}
    n = table.encoder.n_features
    names = list(range(n)) if table.names is None else list(map(printed, table.names))
    found = {}
    for name, sign in given.items():
        if name not in names:
            raise ValueError(f"monotone names {name!r}: the columns are {listed(names)}")
        feature = names.index(name)
        if feature in table.encoder.levels:
            raise ValueError(
                f"monotone names {name!r}, which holds categories: name a column of numbers"
            )
        if isinstance(sign, bool) or sign not in (1, -1):
            raise ValueError(f"monotone gives {sign!r} for {name!r}: give 1 or -1")
        found[feature] = int(sign)
    return found


def constrained(learner: WeakLearner, directions: Directions) -> WeakLearner:
    """The learner that keeps to the directions, if there is one; else the learner itself."""
    if not directions:
        return learner
    return monotone_learner(learner, directions) or learner


def check_constrained(learner: WeakLearner, directions: Directions) -> None:
    """Raise an error if a learner that the user has named cannot keep to the directions."""
    if directions and not isinstance(learner, MonotoneTree):
        raise ValueError(
            f"monotone= is promised by trees with an output for each leaf, of depth 8 or less, not by "
            f'{type(learner).__name__}: use learner="auto" or "tree"'
        )


def kept(model: Any, directions: Directions) -> Any:
    """The model, proved to keep to the directions."""
    if not directions:
        return model
    if isinstance(model, FittedClassifier) and len(model.classes) >= CHECKED_TOGETHER:
        decoder = model.decoder
        if not is_uniform(decoder.costs) or not decoder.kind.is_linear:
            raise ValueError(
                f"monotone= with {len(model.classes)} classes needs training that treats all mistakes alike: "
                'set training="neutral" and loss="exponential"; the costs then act in the decision'
            )
    if (
        isinstance(model, FittedClassifier)
        and model.subcosts == "rebel"
        and not is_uniform(model.decoder.costs)
    ):
        raise ValueError('monotone= needs subcosts="thesis", or training="neutral"')
    better = mended(model.ensemble, directions)
    return replace(model, ensemble=better, monotone=tuple(sorted(directions.items())))
