"""How the outcome of a model changes with the value of a feature.

The outcome is averaged over rows of a table: every row gets the same value of the feature and keeps its
other values (partial dependence). Where every term that uses the feature uses no other, the feature adds the
same to the score of every row, so the curve of the scores is exact, not an average of different curves.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Ints, Outputs, Scores, Values
from rebelboost.base.hashing import distinct
from rebelboost.data.encoder import MOST_LEVELS
from rebelboost.explain.rules import Wording
from rebelboost.explain.usage import importances
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedClassifier, FittedTerms

N_POINTS = 25
"""Number of values on a curve."""
MOST_DISTINCT = 12
"""Numbers with at most this many distinct values are drawn at these values only."""
MOST_STEPS = 100
"""Maximum number of steps of an exact curve; with more, it is drawn at evenly spaced values."""
N_BINS = 24
"""Number of bars of a histogram."""
TAIL = 0.01
"""Share of the rows beyond each end of a curve: rare extreme values would squeeze the rest."""
MOST_WORK, MOST_ROWS, FEWEST_ROWS = 1.5e7, 500, 20
"""Maximum number of terms evaluated for a curve, and limits of the number of rows averaged."""
MOST_RANKED, N_RANKING = 60, 40
"""Maximum number of features that are ranked by their effect, and number of rows for it."""


@dataclass(frozen=True)
class Curve:
    """The average outcome at some values of a feature."""

    feature: int
    name: str
    values: Floats
    """(m,) values of the feature, ascending; codes of categories."""
    labels: tuple[str, ...]
    """The values as text."""
    is_category: bool
    outcome: Outputs
    """(m, K) mean probability of each class, or mean score if there are none; (m, 1) mean predictions."""
    scores: Scores
    """(m, K) mean scores, minus their mean over the rows of the table."""
    counts: Ints
    """Rows at each value or, between `edges`, in each interval."""
    edges: Floats | None
    """Limits of the intervals; None if the counts are of `values`."""
    n_missing: int
    """Rows without a value."""
    missing: ByClass | None
    """(K,) mean outcome if the value is missing; None if no row lacks it."""
    exact: bool
    """Whether the feature adds the same to the scores of every row."""

    @property
    def size(self) -> float:
        """Mean absolute deviation of the outcome from its mean, over the rows of the table."""
        at = self.counts if self.edges is None else self._counts_at_values()
        weight = at / max(1, at.sum())
        return float((weight[:, np.newaxis] * np.abs(self.outcome - weight @ self.outcome)).sum())

    def _counts_at_values(self) -> Ints:
        assert self.edges is not None
        middles = (self.edges[1:] + self.edges[:-1]) / 2
        nearest = np.abs(self.values - middles[:, np.newaxis]).argmin(axis=1)
        return np.bincount(nearest, self.counts, len(self.values)).astype(np.int64)


def curve(
    model: FittedTerms, X: Values, feature: int, wording: Wording, n_threads: int = 1
) -> Curve:
    """Average the outcome over rows of the encoded table `X`, for values of one feature."""
    column = np.asarray(X[:, feature], dtype=np.float64)
    there = column[~np.isnan(column)]
    is_category, exact = feature in wording.levels, is_additive(model.ensemble, feature)
    values, counts, edges = _values(there, is_category)
    if exact and edges is not None:
        values = _corners(model.ensemble, feature, float(values[0]), float(values[-1]))
    rows = _some_rows(X, len(model.ensemble) * N_POINTS)  # the same rows for every feature
    scores = _scores_at(model, rows, feature, np.append(values, np.nan), n_threads)
    means = scores[:-1].mean(axis=1)
    outcomes = _mean_outcomes(model, scores)
    n_missing = len(column) - len(there)
    return Curve(
        feature,
        wording.names[feature],
        values,
        tuple(wording.cell(feature, value) for value in values.tolist()),
        is_category,
        outcomes[:-1],
        means - model.ensemble.scores(rows, n_threads).mean(axis=0),
        counts,
        edges,
        n_missing,
        outcomes[-1] if n_missing else None,
        exact,
    )


def outcome_of(model: Any, scores: Scores) -> Outputs:
    """Probabilities; predictions of a regressor."""
    if not isinstance(model, FittedClassifier):
        return np.asarray(model.baseline + scores)
    return model.posterior(scores)


def is_additive(ensemble: Ensemble, feature: int) -> bool:
    """Whether every term that uses a feature uses no other."""
    return all(group.terms.is_additive(feature) for group in ensemble.groups)


def leading_features(model: FittedTerms, X: Values, most: int, n_threads: int = 1) -> list[int]:
    """Features whose values change the outcome most, estimated from a few rows.

    If there are many features, only those with the highest importances are tried or, without trees, those
    whose means differ most between the decisions.
    """
    tried = _promising(model, X)
    rows = _some_rows(X, 0)[:: max(1, min(len(X), MOST_ROWS) // N_RANKING)]
    sizes = {}
    for f in tried.tolist():
        column = X[:, f][~np.isnan(X[:, f])]
        if len(column) == 0:
            continue
        quantiles: Floats = np.quantile(column, [0.1, 0.3, 0.5, 0.7, 0.9], method="nearest")
        values = distinct(quantiles)
        found = _mean_outcomes(model, _scores_at(model, rows, f, values, n_threads))
        sizes[f] = float(np.ptp(found, axis=0).sum())
    ranked = sorted(sizes, key=lambda f: -sizes[f])
    return [f for f in ranked if sizes[f] > 0][:most]


def _mean_outcomes(model: Any, scores: Floats) -> Outputs:
    """(m, K) mean outcomes of (m, n, K) scores."""
    return np.stack([outcome_of(model, each).mean(axis=0) for each in scores])


def _promising(model: FittedTerms, X: Values) -> Ints:
    if model.n_features <= MOST_RANKED:
        return np.arange(model.n_features)
    sizes = importances(model.ensemble, model.n_features)
    if not sizes.any():
        rows = _some_rows(X, 0)
        lead = model.ensemble.scores(rows)
        lead = lead - lead.mean(axis=0)
        spread = rows - np.nanmean(rows, axis=0)
        spread = np.nan_to_num(spread / np.maximum(np.nanstd(rows, axis=0), 1e-300))
        sizes = np.abs(spread.T @ lead).sum(axis=1)
    return np.argsort(-sizes, kind="stable")[:MOST_RANKED]


def _values(there: Floats, is_category: bool) -> tuple[Floats, Ints, Floats | None]:  # noqa: FBT001
    """Values to draw, and the counts of the rows at them or between edges."""
    values, counts = np.unique(there, return_counts=True)
    if is_category and len(values) > MOST_LEVELS:
        frequent = np.sort(np.argsort(-counts, kind="stable")[:MOST_LEVELS])
        values, counts = values[frequent], counts[frequent]
    if is_category or len(values) <= MOST_DISTINCT:
        return values, counts, None
    low, high = np.quantile(there, (TAIL, 1 - TAIL))
    if low == high:
        low, high = float(values[0]), float(values[-1])
    counts, edges = np.histogram(there, N_BINS, (low, high))
    return np.linspace(low, high, N_POINTS), counts, edges


def _corners(ensemble: Ensemble, feature: int, low: float, high: float) -> Floats:
    """Values at which the steps of trees begin and end, so that lines between them are exact.

    If there are very many, evenly spaced values.
    """
    found = [group.terms.steps(feature) for group in ensemble.groups]
    steps = distinct(np.concatenate([np.empty(0), *found]))
    steps = steps[(steps > low) & (steps < high)]
    if len(steps) > MOST_STEPS:
        return np.linspace(low, high, 2 * MOST_STEPS)
    # A split sends x ≤ threshold to one side and the next number to the other.
    return distinct(np.concatenate([[low, high], steps, np.nextafter(steps, np.inf)]))


def _some_rows(X: Values, n_terms: int) -> Values:
    """Evenly spaced rows; fewer if there are many terms to be evaluated for each."""
    most = int(min(MOST_ROWS, max(FEWEST_ROWS, MOST_WORK / max(1, n_terms))))
    chosen = distinct(np.linspace(0, len(X) - 1, min(most, len(X))).round().astype(np.int64))
    return np.asarray(X[chosen], dtype=np.float64)


def _scores_at(
    model: FittedTerms, rows: Values, feature: int, values: Floats, n_threads: int
) -> Floats:
    """(m, n, K) scores of the rows, with each of the values of the feature in turn."""
    changed: Floats = np.tile(rows, (len(values), 1)).astype(np.float64)
    changed[:, feature] = np.repeat(values, len(rows))
    scores = model.ensemble.scores(changed, n_threads)
    return scores.reshape(len(values), len(rows), -1)
