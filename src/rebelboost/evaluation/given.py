"""What an evaluation is given, checked: true labels or numbers, weights and groups of samples."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from rebelboost.base.arrays import BySample, Ints, Scores
from rebelboost.evaluation.intervals import WeightedRows
from rebelboost.exceptions import EvaluationError


class Given(NamedTuple):
    """True labels or numbers of samples, with their weights and groups."""

    y: NDArray[Any]
    weight: BySample
    """(N,) weights; 1 if none were given."""
    groups: Ints | None
    """(N,) number of each sample's group; None if samples are independent."""

    by: tuple[str, NDArray[Any]] | None = None
    """The name and the (N,) values of the column by which results are given too."""

    def of(self, rows: Ints | NDArray[np.bool_]) -> "Given":
        """Those of some of the samples."""
        groups = None if self.groups is None else self.groups[rows]
        by = None if self.by is None else (self.by[0], self.by[1][rows])
        return Given(self.y[rows], self.weight[rows], groups, by)

    @property
    def sampling(self) -> WeightedRows:
        """The weights and groups, for intervals."""
        return WeightedRows(self.weight, self.groups)


class HeldOutScores(NamedTuple):
    """The scores of training samples, each by fits that did not see it."""

    scores: Scores
    rows: Ints
    """(n,) the samples' rows in the training table."""


def checked(y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> Given:
    """Check that the arrays fit one another."""
    labels: NDArray[Any] = column_or_1d(y)
    return Given(labels, _weight(sample_weight, len(labels)), _groups(groups, len(labels)))


def held_out_scores(model: Any, n_labels: int) -> HeldOutScores | None:
    """The held-out scores of a cross-fitted model; None if it has none."""
    found = getattr(model, "cross_fit_", None)
    scores, rows = getattr(found, "left_out", None), getattr(found, "rows", None)
    if scores is None or rows is None or len(rows) == 0:  # models saved without rows have none
        return None
    needed = int(np.max(rows)) + 1
    if n_labels < needed:
        raise EvaluationError(
            f"y has {n_labels} labels, but the model was fitted to at least {needed}: "
            "give the labels that it was fitted to"
        )
    return HeldOutScores(scores, np.asarray(rows))


def _weight(given: ArrayLike | None, n_samples: int) -> BySample:
    if given is None:
        return np.ones(n_samples)
    weight: BySample = np.asarray(given, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise EvaluationError(f"sample_weight has shape {weight.shape}: give {(n_samples,)}")
    if not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
        raise EvaluationError("sample_weight must be finite, 0 or more, and not 0 everywhere")
    return weight


def _groups(given: ArrayLike | None, n_samples: int) -> Ints | None:
    if given is None:
        return None
    groups: NDArray[Any] = column_or_1d(given)
    if len(groups) != n_samples:
        raise EvaluationError(f"y has {n_samples} labels, but groups has {len(groups)} values")
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)
