"""What a cascade saves on new samples, and how often it decides differently from the full model."""

from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.text import percent
from rebelboost.cascade.thresholds import exact_interval
from rebelboost.estimators.cascade import Cascade
from rebelboost.evaluation.intervals import Estimate
from rebelboost.exceptions import EvaluationError


class EarlyEvaluation(NamedTuple):
    """Decisions of a cascade beside those of its full model."""

    agreement: float
    """Share of decisions that the cascade was asked to keep."""
    n: int
    """Number of samples."""
    n_terms: int
    """Number of terms of the full model."""
    mean_terms: float
    """Mean number of terms used."""
    n_different: int
    """Number of samples with another decision than the full model's."""

    @property
    def disagreement(self) -> Estimate:
        """Share of other decisions, with its 95 % interval [Clopper and Pearson 1934]."""
        return Estimate(self.n_different / self.n, *exact_interval(self.n_different, self.n))

    @property
    def times_fewer(self) -> float:
        """Terms of the full model for one term used."""
        return self.n_terms / self.mean_terms

    def __str__(self) -> str:
        share, low, high = self.disagreement
        return (
            f"Deciding early, agreement {percent(self.agreement)}: {self.mean_terms:,.0f} of "
            f"{self.n_terms:,} terms per row ({self.times_fewer:.1f} times fewer); {self.n_different:,} of "
            f"{self.n:,} decisions differ from the full model's ({percent(share)}, 95 % interval "
            f"{percent(low)} to {percent(high)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        return {**self._asdict(), "disagreement": self.disagreement.to_dict()}


def evaluate_cascade(cascade: Cascade, X: Any, *, costs: Any = None) -> EarlyEvaluation:
    """Compare the decisions of a cascade with those of its full model, on samples not used to choose it.

    Parameters
    ----------
    cascade : Cascade
        From `RebelClassifier.cascade`.
    X : table of shape (N, d)
        Samples. Their classes need not be known.
    costs : array or data frame, optional
        The samples' own costs, as in `Cascade.predict`.
    """
    used, different = cascade.against_full(X, costs)
    if len(used) == 0:
        raise EvaluationError("there are no samples to evaluate: give a table with rows")
    return EarlyEvaluation(
        cascade.agreement,
        len(used),
        int(cascade.n_terms[-1]),
        float(used.mean()),
        int(np.count_nonzero(different)),
    )
