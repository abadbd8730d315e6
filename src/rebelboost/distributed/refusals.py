"""What cannot be fitted to spread rows."""

from typing import Any

from rebelboost.estimators.inputs import learner_of
from rebelboost.learners.tree import Tree


def check_spreadable(estimator: Any) -> Tree:
    """Raise an error for settings that need all rows in one place; return the learner."""
    learner = learner_of(estimator.learner)
    if not isinstance(learner, Tree) or learner.outputs != "leaf":
        raise ValueError(
            f"learner={estimator.learner!r} needs all rows in one place: on spread rows use trees with "
            "leaf outputs, such as Tree(depth=6)"
        )
    needs = {
        "loss": (estimator.loss, "exponential"),
        "warm_start": (estimator.warm_start, False),
        "weight_trimming": (estimator.weight_trimming, None),
    }
    for name, (given, only) in needs.items():
        if given != only:
            raise ValueError(
                f"{name}={given!r} needs all rows in one place: on spread rows set {name}={only!r}"
            )
    if estimator.cross_fit not in ("auto", None):
        raise ValueError(
            f"cross_fit={estimator.cross_fit!r} needs all rows in one place: on spread rows set "
            "cross_fit=None"
        )
    if estimator.subcosts == "rebel":
        raise ValueError(
            "subcosts='rebel' needs all rows in one place: on spread rows set subcosts='thesis'"
        )
    return learner
