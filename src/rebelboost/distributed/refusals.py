"""What cannot be fitted to spread rows."""

from typing import Any

from rebelboost.learners.base import WeakLearner
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree


def is_spreadable(learner: WeakLearner) -> bool:
    """Whether a learner can search rows that are in several places."""
    if isinstance(learner, Similarity):
        return learner.is_scaled and learner.search == "drawn" and learner.modes == "both"
    if isinstance(learner, Stump):
        return learner.binning != "exact"  # thresholds between any two values
    return isinstance(learner, Tree)


def check_spreadable(estimator: Any, learner: WeakLearner) -> None:
    """Raise an error for settings that need all rows in one place."""
    if not is_spreadable(learner):
        raise ValueError(
            f"learner={estimator.learner!r} needs all rows in one place: on spread rows use Tree(), "
            "Stump(binning='quantile') or Similarity() with its own metric, search and modes"
        )
    only = {"warm_start": False, "weight_trimming": None}
    for name, value in only.items():
        given = getattr(estimator, name, value)
        if given != value:
            raise ValueError(
                f"{name}={given!r} needs all rows in one place: on spread rows set {name}={value!r}"
            )
    if estimator.cross_fit not in ("auto", None):
        raise ValueError(
            f"cross_fit={estimator.cross_fit!r} needs all rows in one place: on spread rows set "
            "cross_fit=None"
        )


def check_costs_by_sample(loss: str, subcosts: str) -> None:
    """Raise an error if training on costs by sample needs all rows in one place."""
    for name, given, only in (("loss", loss, "exponential"), ("subcosts", subcosts, "thesis")):
        if given != only:
            raise ValueError(
                f"costs by sample with {name}={given!r} need all rows in one place: on spread rows set "
                f"{name}={only!r}, or training='neutral'"
            )
