"""Measure the errors of predicted numbers on samples that were not used in training."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rebelboost.base.arrays import BySample
from rebelboost.base.findings import GAP, Described, Document, Sentence
from rebelboost.base.text import counted, number, percent
from rebelboost.evaluation.figures import HELD_OUT, LEFT_OUT, Figure, about_test, figure_table
from rebelboost.evaluation.given import Given, HeldOutScores
from rebelboost.evaluation.headlines import Line, lead_on_predictions, lines_on_predictions
from rebelboost.evaluation.intervals import Estimate, WeightedRows, Z
from rebelboost.exceptions import EvaluationError
from rebelboost.model.intervals import COVERAGE


@dataclass(frozen=True)
class RegressionEvaluation(Described):
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

    @property
    def is_from_file(self) -> bool:
        """Whether it lacks results by sample, as one from a file does: predictions need none."""
        return False

    @property
    def is_too_good(self) -> bool:
        """Whether it is rarely honest; not known of numbers."""
        return False

    @property
    def accuracy_and_baseline(self) -> tuple[float, float] | None:
        """Accuracies, which numbers do not have."""
        return None

    def figures(self, *, of_many: bool = False) -> list[Figure]:
        """All figures with their baselines; they do not depend on the number of predictions."""
        del of_many
        always = f"always {number(self.constant)}, the mean"
        largest = max(self.error.high, self.constant_error) or 1.0
        mark = (self.constant_error, always)
        figures = [
            Figure("mean absolute error", self.error, number, scale=largest, mark=mark),
            Figure(always, self.constant_error, number, is_baseline=True),
            Figure("root mean squared error", self.squared, number),
            Figure("R², explained share of the variance", self.explained, "{:.3f}".format),
        ]
        if self.coverage is not None:
            figures.append(Figure("inside the 90 % prediction interval", self.coverage, percent))
        return figures

    def document(self) -> Document:
        """The figures as a document, which `rebelboost.base.findings` renders."""
        source = HELD_OUT if self.is_left_out else self.source
        groups = "" if self.n_groups is None else f" in {counted(self.n_groups, 'group')}"
        opening = Sentence(f"{self.n:,} samples{groups}: {source}", "note")
        return [opening, GAP, figure_table(self.figures())]

    def lead(self) -> list[Sentence]:
        """The main result in a few sentences."""
        return lead_on_predictions(self)

    def lines(self) -> list[Line]:
        """The main results as labelled lines."""
        return lines_on_predictions(self)

    def notes(self) -> list[str]:
        """What a reader of the figures should know; nothing more."""
        return []

    def about_scales(self) -> str:
        """What drawings of the figures show."""
        largest = number(self.figures()[0].scale)
        return (
            f"Scale: error from 0 to {largest}. Dot: estimate; thick line: 95 % interval; vertical mark: the "
            "mean."
        )

    def about_unknown(self) -> str:
        """Say how many samples have unknown classes: none."""
        return ""

    def about_source(self) -> str:
        """Say where the figures come from, and what they are worth."""
        if not self.is_left_out:
            return about_test(self.n, self.source)
        return (
            f"Cross-validation on {self.n:,} training samples: each is predicted only by fits that did not "
            "see it."
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        return {**asdict(self), "error": self.error.to_dict()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "RegressionEvaluation":
        """Create from a dictionary; the inverse of `to_dict`."""
        return cls(**{**stored, "error": Estimate.from_dict(stored["error"])})


def tested(reg: Any, X: Any, given: Given, source: str) -> RegressionEvaluation:
    """Evaluate a regressor on samples that it was not fitted to."""
    predicted = reg.predict(X)
    if len(given.y) != len(predicted):
        raise EvaluationError(f"X has {len(predicted)} samples, but y has {len(given.y)} numbers")
    true, coverage = given.y.astype(np.float64), None
    if len(true) > 0 and getattr(reg.model_, "intervals", None) is not None:
        low, high = reg.predict_interval(X, COVERAGE).T
        coverage = float(np.average((low <= true) & (true <= high), weights=given.weight))
    return _errors(reg, predicted, given, source, coverage)


def left_out_of(reg: Any, held: HeldOutScores, given: Given) -> RegressionEvaluation:
    """Evaluate a cross-fitted regressor on its training samples, by the predictions of fits without them."""
    return _errors(reg, np.ravel(held.scores), given.of(held.rows), LEFT_OUT, None)


def _errors(
    reg: Any, predicted: BySample, given: Given, source: str, coverage: float | None
) -> RegressionEvaluation:
    if len(given.y) == 0:
        raise EvaluationError("there are no samples to evaluate: give a table with rows")
    true, sampling = given.y.astype(np.float64), given.sampling
    apart = np.abs(predicted - true)

    def mean(values: BySample) -> float:
        return float(np.average(values, weights=given.weight))

    constant = float(reg.baseline_)
    spread, square = mean((true - mean(true)) ** 2), mean(apart**2)
    return RegressionEvaluation(
        source=source,
        n=len(true),
        error=_mean(apart, sampling),
        squared=math.sqrt(square),
        explained=1 - square / spread if spread > 0 else math.nan,
        constant=constant,
        constant_error=mean(np.abs(true - constant)),
        n_groups=None if sampling.groups is None else len(np.unique(sampling.groups)),
        coverage=coverage,
    )


def _mean(values: BySample, sampling: WeightedRows) -> Estimate:
    """Estimate a mean, with the normal interval."""
    mean = float(np.average(values, weights=sampling.weight))
    deviation = math.sqrt(float(np.average((values - mean) ** 2, weights=sampling.weight)))
    half = Z * deviation / math.sqrt(sampling.number(values))
    return Estimate(mean, max(0.0, mean - half), mean + half)
