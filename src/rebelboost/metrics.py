"""Mean cost of decisions, a cost report, and a scorer for scikit-learn's model selection.

`costs` can have any form that `RebelClassifier(costs=...)` accepts; see
`rebelboost.costs.matrix.cost_matrix`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import UNUSED

from rebelboost.base.arrays import BySample, Floats, Labels
from rebelboost.base.names import ClassNames, listed, shown
from rebelboost.costs.matrix import cost_matrix, cost_rows, named_classes, row_table
from rebelboost.costs.report import CostReport
from rebelboost.exceptions import CostError


def mean_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    costs: Any,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    reject_cost: float | None = None,
    reject_label: Any = None,
) -> float:
    """Return the mean cost of decisions.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (N,)
        True classes and decisions.
    costs : object
        Costs by class, as for `RebelClassifier`; or an array or data frame of shape (N, K), with one
        row per sample. An array of shape (K, K) is always read as costs by class.
    labels : sequence, optional
        Classes, in the order of the rows and columns of an array of costs. Default: the classes named
        in `costs` or, if there are no names, the sorted labels in `y_true` and `y_pred`. Required if
        a class may be absent from both.
    sample_weight : array of shape (N,), optional
        Weights of the samples.
    reject_cost : float, optional
        Cost of abstaining, that is of predicting `reject_label`.
    reject_label : object
        Label of an abstention.

    Examples
    --------
    >>> mean_cost(["good", "bad", "bad"], ["good", "good", "bad"], {("bad", "good"): 6})
    2.0
    """
    abstention = _abstention(reject_cost, reject_label)
    y_true, y_pred = _column(y_true, "y_true"), _column(y_pred, "y_pred")
    by_sample = row_table(costs, len(y_true), labels)
    if by_sample is not None:
        labels, costs = by_sample
    names = _classes(costs, labels, (y_true, y_pred), abstention)
    true, decided = names.codes(y_true, "y_true"), names.codes(y_pred, "y_pred")
    _same_length(true, decided, "y_pred")
    weight = _weight(sample_weight, len(true))
    if _is_by_sample(costs, len(true), len(names.classes)):
        rows = cost_rows(costs, true, len(names.classes))
        return _mean(names.priced(rows)[np.arange(len(true)), decided], weight)
    return _mean(names.matrix(costs, true, weight)[true, decided], weight)


def cost_report(  # noqa: PLR0913  (scikit-learn's interface)
    y_true: ArrayLike,
    y_pred: ArrayLike,
    costs: Any,
    *,
    rivals: Mapping[str, ArrayLike] | None = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    reject_cost: float | None = None,
    reject_label: Any = None,
) -> CostReport:
    """Return the confusion matrix in counts and costs, and the costs of other predictions.

    Parameters
    ----------
    y_true, y_pred, costs, labels, sample_weight, reject_cost, reject_label
        As for `mean_cost`; `costs` must be by class.
    rivals : dict, optional
        Names and predictions to compare with, such as ``{"baseline": baseline.predict(X)}``.

    Examples
    --------
    >>> print(cost_report(["good", "bad", "bad"], ["good", "good", "bad"], {("bad", "good"): 6}))
    3 decisions cost 6 in all, 2 each
    <BLANKLINE>
                   each  in all
    this              2       6
    always 'bad'  0.333       1  -83 %
    <BLANKLINE>
    The dearest mistakes
      bad decided as good: 1 × 6 = 6
    <BLANKLINE>
    Counts; rows true, columns decided
          bad  good
    bad     1     1
    good    0     1
    <BLANKLINE>
    Costs; rows true, columns decided
          bad  good
    bad     0     6
    good    0     0
    """
    abstention = _abstention(reject_cost, reject_label)
    y_true, y_pred = _column(y_true, "y_true"), _column(y_pred, "y_pred")
    others = {name: _column(y, name) for name, y in (rivals or {}).items()}
    names = _classes(costs, labels, (y_true, y_pred, *others.values()), abstention)
    true = names.codes(y_true, "y_true")
    weight = _weight(sample_weight, len(true))
    prices = names.matrix(costs, true, weight)

    def confusion(y: NDArray[Any], name: str) -> Floats:
        decided = names.codes(y, name)
        _same_length(true, decided, name)
        counts = np.zeros(prices.shape)
        np.add.at(counts, (true, decided), weight)
        return counts

    return CostReport(
        names.classes,
        names.decisions,
        prices,
        confusion(y_pred, "y_pred"),
        {name: float((confusion(y, name) * prices).sum()) for name, y in others.items()},
    )


class CostScorer(BaseEstimator):
    """Scorer that returns the negative mean cost of a classifier's predictions; see `cost_scorer`."""

    __metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012  (scikit-learn's interface)

    def __init__(
        self,
        costs: Any,
        *,
        labels: Sequence[Any] | None = None,
        reject_cost: float | None = None,
        reject_label: Any = None,
    ) -> None:
        self.costs = costs
        self.labels = labels
        self.reject_cost = reject_cost
        self.reject_label = reject_label

    def score(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        costs: ArrayLike | None = None,
    ) -> float:
        """Return the negative mean cost of the estimator's predictions.

        If `costs` of shape (N, K) are given, they are used instead of the scorer's own.
        """
        labels = getattr(estimator, "classes_", None) if self.labels is None else self.labels
        return -mean_cost(
            y,
            estimator.predict(X),
            self.costs if costs is None else costs,
            labels=labels,
            sample_weight=sample_weight,
            reject_cost=self.reject_cost,
            reject_label=self.reject_label,
        )

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, **metadata: Any) -> float:
        """Return the score; scikit-learn calls scorers in this way."""
        return self.score(estimator, X, y, **metadata)


def cost_scorer(
    costs: Any,
    *,
    labels: Sequence[Any] | None = None,
    reject_cost: float | None = None,
    reject_label: Any = None,
) -> CostScorer:
    """Make a scorer for `GridSearchCV`, `cross_validate` and the like: the negative mean cost.

    An array of costs is in the order of `labels` or, by default, of the estimator's ``classes_``.
    With scikit-learn's metadata routing, the scorer can request ``sample_weight`` and ``costs``,
    one row per sample: ``cost_scorer(C).set_score_request(costs=True)``.
    """
    return CostScorer(costs, labels=labels, reject_cost=reject_cost, reject_label=reject_label)


# ---- validation


class _Abstention(NamedTuple):
    cost: float
    label: Any


@dataclass(frozen=True)
class _Decisions:
    """The classes and the possible decisions, which are the classes and possibly an abstention."""

    names: ClassNames
    abstention: _Abstention | None

    @property
    def classes(self) -> tuple[Any, ...]:
        return self.names.classes

    @property
    def decisions(self) -> tuple[Any, ...]:
        return (*self.classes, self.abstention.label) if self.abstention else self.classes

    def codes(self, y: NDArray[Any], name: str) -> Labels:
        may_abstain = self.abstention is not None and name != "y_true"
        known = ClassNames(self.decisions) if may_abstain else self.names
        codes = [known.find(label) for label in y.tolist()]
        if None in codes:
            raise ValueError(
                f"{name} has the label {shown(y[codes.index(None)])}, which is not a class: "
                f"the classes are {self.names} (labels=... changes them)"
            )
        return np.array(codes, dtype=np.int32)

    def matrix(self, costs: Any, true: Labels, weight: BySample) -> Floats:
        """Costs of shape (K, number of decisions)."""
        counts = np.bincount(true, weight, len(self.classes))
        return self.priced(cost_matrix(costs, self.classes, counts))

    def priced(self, rows: Floats) -> Floats:
        if self.abstention is None:
            return rows
        return np.column_stack([rows, np.full(len(rows), self.abstention.cost)])


def _abstention(cost: float | None, label: Any) -> _Abstention | None:
    if cost is None:
        return None
    if not 0 <= cost < np.inf:  # an integer may be too large for NumPy
        raise CostError(f"reject_cost is {cost:g}: give a finite number, 0 or more")
    return _Abstention(float(cost), label)


def _classes(
    costs: Any,
    labels: Sequence[Any] | None,
    used: Sequence[NDArray[Any]],
    abstention: _Abstention | None,
) -> _Decisions:
    if labels is None:
        labels = named_classes(costs)
    if labels is None:
        found = {label for y in used for label in y.tolist()}
        if abstention is not None:
            rejected = ClassNames([abstention.label])
            found = {label for label in found if rejected.find(label) is None}
        labels = _sorted(found)
    return _Decisions(ClassNames(labels), abstention)


def _sorted(found: set[Any]) -> list[Any]:
    try:
        return sorted(found)
    except TypeError as error:
        raise ValueError(
            f"the labels {listed(sorted(found, key=str))} cannot be sorted: give labels=..."
        ) from error


def _column(y: ArrayLike, name: str) -> NDArray[Any]:
    column: NDArray[Any] = column_or_1d(y)
    if len(column) == 0:
        raise ValueError(f"{name} is empty: give at least one label")
    return column


def _same_length(true: Labels, decided: Labels, name: str) -> None:
    if len(decided) != len(true):
        raise ValueError(f"y_true has {len(true)} labels, but {name} has {len(decided)}")


def _weight(sample_weight: ArrayLike | None, n_samples: int) -> BySample:
    if sample_weight is None:
        return np.ones(n_samples)
    weight: BySample = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weight.shape}: give ({n_samples},)")
    if not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
        raise ValueError("sample_weight must be finite, 0 or more, and not 0 everywhere")
    return weight


def _is_by_sample(costs: Any, n_samples: int, n_classes: int) -> bool:
    is_array = isinstance(costs, np.ndarray | list | tuple)
    return is_array and n_samples != n_classes and np.shape(costs) == (n_samples, n_classes)


def _mean(paid: BySample, weight: BySample) -> float:
    return float(np.average(paid, weights=weight))
