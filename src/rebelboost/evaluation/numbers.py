"""Measure the errors of predicted numbers on samples that were not used in training."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_regressor

from rebelboost.base.arrays import BySample, Ints
from rebelboost.base.text import aligned, counted, number, percent
from rebelboost.evaluation.fitted_rows import check_fitted_rows
from rebelboost.evaluation.intervals import Estimate, Z
from rebelboost.evaluation.result import HELD_OUT, LEFT_OUT
from rebelboost.evaluation.sampling import WeightedRows
from rebelboost.exceptions import EvaluationError

COVERAGE = 0.9
"""Share of the targets that prediction intervals are to contain."""


@dataclass(frozen=True)
class NumberEvaluation:
    """Errors of a regressor; `print` shows them."""

    source: str
    """Origin of the samples: `LEFT_OUT`, or the name of a table."""
    n: int
    """Number of samples evaluated."""
    error: Estimate
    """Mean absolute error."""
    squared: float
    """Root mean squared error."""
    explained: float
    """R²: 1 minus the mean squared error divided by the variance of the targets."""
    constant: float
    """Mean target of the training data."""
    constant_error: float
    """Mean absolute error of always predicting that."""
    n_groups: int | None = None
    """Number of groups of samples that go together; None if each is by itself."""
    coverage: float | None = None
    """Share of the targets inside their 90 % prediction intervals; None without intervals."""

    @property
    def is_unclear(self) -> bool:
        """Whether the interval of the error includes that of always predicting the mean."""
        return self.error.high >= self.constant_error

    @property
    def is_left_out(self) -> bool:
        """Whether the samples are held-out training samples of a cross-fit."""
        return self.source == LEFT_OUT

    def text(self) -> str:
        """Return the figures as text."""
        source = HELD_OUT if self.is_left_out else self.source
        groups = "" if self.n_groups is None else f" in {counted(self.n_groups, 'group')}"
        error, low, high = map(number, self.error)
        rows = [
            ["", "", "95 % interval"],
            ["mean absolute error", error, f"{low} to {high}"],
            [f"  always {number(self.constant)}, the mean", number(self.constant_error), ""],
            ["root mean squared error", number(self.squared), ""],
            ["R², explained share of the variance", f"{self.explained:.3f}", ""],
        ]
        if self.coverage is not None:
            rows.append(["inside the 90 % prediction interval", percent(self.coverage), ""])
        return "\n".join([f"{self.n:,} samples{groups}: {source}", "", aligned(rows)])

    __str__ = text

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        return {**asdict(self), "error": self.error.to_dict()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "NumberEvaluation":
        """Create from a dictionary; the inverse of `to_dict`."""
        return cls(**{**stored, "error": Estimate.from_dict(stored["error"])})


def evaluate_numbers(
    reg: Any,
    X: Any,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    source: str = "a test table",
) -> NumberEvaluation:
    """Evaluate a fitted regressor on samples that it was not fitted to.

    Parameters
    ----------
    reg : RebelRegressor
        Fitted regressor.
    X, y : table of shape (N, d), numbers of shape (N,)
        Test samples.
    groups : array of shape (N,), optional
        Samples of one group (such as a patient) are not independent, which widens the interval.
    source : str
        Name of the table, for texts.
    """
    if not is_regressor(reg):
        raise EvaluationError(f"{type(reg).__name__} is not a regressor: use evaluate")
    true = np.asarray(y, dtype=np.float64)
    coverage = None
    if getattr(reg.model_, "intervals", None) is not None:
        low, high = reg.predict_interval(X, COVERAGE).T
        coverage = float(np.mean((low <= true) & (true <= high)))
    return _errors(reg, true, reg.predict(X), groups, source, coverage)


def left_out_numbers(
    reg: Any, y: ArrayLike, *, groups: ArrayLike | None = None
) -> NumberEvaluation | None:
    """Evaluate a cross-fitted regressor on its training samples, each by fits that did not see it.

    The result is None if there was no cross-fit. `y` and `groups` are those that it was fitted to.
    """
    found = getattr(reg, "cross_fit_", None)
    scores, rows = getattr(found, "left_out", None), getattr(found, "rows", None)
    if scores is None or rows is None or len(rows) == 0:  # models saved without rows have none
        return None
    check_fitted_rows(rows, len(np.asarray(y)))
    of_group = None if groups is None else np.asarray(groups)[rows]
    true = np.asarray(y, dtype=np.float64)[rows]
    return _errors(reg, true, np.ravel(scores), of_group, LEFT_OUT, None)


def _errors(
    reg: Any,
    true: BySample,
    predicted: BySample,
    groups: ArrayLike | None,
    source: str,
    coverage: float | None,
) -> NumberEvaluation:
    if len(true) == 0:
        raise EvaluationError("there are no samples to evaluate: give a table with rows")
    apart = np.abs(predicted - true)
    members: Ints | None = None
    if groups is not None:
        members = np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.int64)
    constant = float(reg.baseline_)
    spread = float(np.var(true))
    square = float(np.mean(apart**2))
    return NumberEvaluation(
        source=source,
        n=len(true),
        error=_mean(apart, members),
        squared=math.sqrt(square),
        explained=1 - square / spread if spread > 0 else math.nan,
        constant=constant,
        constant_error=float(np.mean(np.abs(true - constant))),
        n_groups=None if members is None else int(members.max()) + 1,
        coverage=coverage,
    )


def _mean(values: BySample, groups: Ints | None) -> Estimate:
    """Estimate a mean, with the normal interval."""
    mean = float(values.mean())
    number_of_samples = WeightedRows(np.ones(len(values)), groups).number(values)
    half = Z * float(values.std()) / math.sqrt(number_of_samples)
    return Estimate(mean, max(0.0, mean - half), mean + half)
