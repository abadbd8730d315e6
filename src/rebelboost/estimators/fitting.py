"""What the estimators share: seeds, threads, callbacks."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from joblib import cpu_count, effective_n_jobs
from sklearn.utils import check_random_state

from rebelboost.boosting.callbacks import Callback
from rebelboost.learners.similarity import Similarity


def threads_of(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's `n_jobs` means, never more than cores."""
    return max(1, min(effective_n_jobs(n_jobs), _n_cores()))


@cache
def _n_cores() -> int:
    return int(cpu_count())  # joblib reads files for it, every time


def seed_of(random_state: Any) -> int:
    """Draw a seed; None stands for a fixed one."""
    if random_state is None:
        return 0
    return int(check_random_state(random_state).randint(2**31 - 1))


def check_callbacks(callbacks: Sequence[Callback] | None) -> None:
    """Refuse what cannot hear."""
    for callback in callbacks or ():
        if not (hasattr(callback, "on_round") and hasattr(callback, "on_end")):
            raise TypeError(
                f"callback {callback!r} lacks on_round(record) or on_end(): give an object "
                "with both, such as a subclass of rebelboost.boosting.rounds.History"
            )


def check_cross_fit(cross_fit: int | str | None, alone: dict[str, bool]) -> None:
    """Refuse what cannot go with a given number of parts."""
    for name, given in alone.items():
        if cross_fit is not None and given:
            raise ValueError(
                f"cross_fit={cross_fit} chooses the rounds by itself and cannot go with {name}: "
                "leave one of them out"
            )


def check_learner(learner: Any, loss: str, feature_subsample: float) -> None:
    """Refuse what similarities cannot do."""
    if not isinstance(learner, Similarity):
        return
    if loss != "exponential":
        raise ValueError(
            f"similarities are solved for the exponential loss, not for loss={loss!r}: leave it "
            "out, or take trees"
        )
    if feature_subsample < 1:
        raise ValueError(
            f"feature_subsample={feature_subsample:g} means nothing to similarities, whose "
            "distances are of all features: leave it out, or take trees"
        )
