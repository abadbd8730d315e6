"""What cannot be fitted to spread rows."""

from typing import Any

from rebelboost.learners.base import WeakLearner
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree


def is_spreadable(learner: WeakLearner) -> bool:
    """Whether a learner can search rows that are in several places."""
    if isinstance(learner, Stump):
        return learner.binning != "exact"  # thresholds between any two values
    return isinstance(learner, Tree)


def check_spreadable(estimator: Any, learner: WeakLearner) -> None:
    """Raise an error for settings that need all rows in one place."""
    if not is_spreadable(learner):
        raise ValueError(
            f"learner={estimator.learner!r} needs all rows in one place: on spread rows use Tree() or "
            "Stump(binning='quantile'), or fit the ordinary estimator to a sample of the rows"
        )
    if estimator.loss in ("absolute", "huber"):
        raise ValueError(
            f"loss={estimator.loss!r} needs all rows in one place: on spread rows set loss='squared', or "
            "fit the ordinary estimator to a sample of the rows"
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
