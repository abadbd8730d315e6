"""Which features help on rows that the model has not seen: the loss rises if their values are shuffled.

How much a model uses a feature (`feature_importances_`) says nothing about new rows: a column of names is used
much and helps nobody. Here the values of one feature are exchanged between held-out rows [Breiman 2001], and
the rise of the log-loss, or of the mean squared error of a regressor, is measured. A held-out row of a
cross-fit is scored by the fits that did not see it.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from rebelboost.base.arrays import BySample, Floats, Ints, Scores, Values
from rebelboost.base.hashing import hash_rows
from rebelboost.base.names import ClassNames
from rebelboost.estimators.base import encode_table
from rebelboost.estimators.validation import threads_of
from rebelboost.evaluation.classes import LEAST_PROBABILITY
from rebelboost.explain.usage import importances
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.terms import Queries
from rebelboost.model.trees import Trees

MOST_ROWS, REPEATS = 2000, 2
"""Maximum number of rows, and number of times that each feature is shuffled."""
MOST_FEATURES = 50
"""With more features, only those that the model uses most are shuffled."""
FEWEST_ROWS = 20
KEPT_IMPORTANCE = "held_out_importance"
"""Key of a model's metadata under which `rebel train` stores the result."""


class HeldOutImportance(NamedTuple):
    """What shuffling a feature changes on held-out rows."""

    name: str
    rise: float
    """Rise of the mean log-loss, or of the mean squared error as a share of the targets' variance."""
    error: float
    """Its standard error."""

    @property
    def helps(self) -> bool:
        """Whether the feature clearly helps: the rise is above what chance explains (95 %)."""
        return self.rise > 1.96 * self.error


def held_out_importance(
    clf: Any, X: Any, y: ArrayLike, *, unseen: bool = False
) -> list[HeldOutImportance] | None:
    """Measure which features help on held-out rows, those that help most first.

    Parameters
    ----------
    clf : RebelClassifier or RebelRegressor
        Fitted model.
    X, y : table of shape (N, d), labels or targets of shape (N,)
        The training table, whose held-out rows are used. Or, with `unseen`, rows that were not used in
        training.
    unseen : bool, default=False
        Whether the rows were not used in training.

    Returns
    -------
    list of HeldOutImportance, or None
        None if the model has no fits that left rows out, if they are too few, or if the table contains
        distances.
    """
    if getattr(clf.learner, "metric", None) == "precomputed":
        return None
    values = encode_table(clf, X)
    if unseen:
        rows = np.arange(len(values))
        parts: list[_Part] | None = [_Part(rows, [(1.0, clf.ensemble_)])]
    else:
        parts = _left_out_parts(clf)
    if parts is None or sum(len(part.rows) for part in parts) < FEWEST_ROWS:
        return None
    return _Shuffling(clf, values, np.asarray(y), parts).found()


class _Part(NamedTuple):
    """Held-out rows, and the terms that were fitted without them."""

    rows: Ints
    terms: list[tuple[float, Ensemble]]
    """Ensembles with their factors; scores are their sum, up to what does not depend on the features."""


def _left_out_parts(clf: Any) -> list[_Part] | None:
    """The held-out rows of each fold; None if the fits without them are not in the model."""
    found = clf.cross_fit_
    if found is None or len(found.rows) == 0:
        return None
    members = [i for i, each in enumerate(found.standings) if each.share > 0]
    n_parts = found.standings[members[0]].n_parts
    pieces = list(found.part_rows)
    if not pieces:  # a loaded model: rows are listed part by part, ascending within a part
        pieces = np.split(found.rows, np.flatnonzero(np.diff(found.rows) < 0) + 1)
    if len(pieces) != n_parts:
        return None
    ensemble: Ensemble = clf.ensemble_
    of_term = _fit_of_term(found, len(ensemble))
    if of_term is None:
        return None
    is_constant = _is_constant(ensemble)
    constants = _only(ensemble, np.flatnonzero(is_constant & (of_term < 0)))
    # Fits that the average has merged into one are known of new models, not of loaded ones.
    if ((of_term < 0) & ~is_constant).any() and len(found.merged_parts) != n_parts:
        return None
    parts = []
    for k, rows in enumerate(pieces):
        own_terms = [(1.0, constants)]
        own_terms += [(1.0, found.merged_parts[k])] if found.merged_parts else []
        for member in members:
            runs = [run for run, i in enumerate(found.runs) if i == member]
            if not runs:
                continue
            kept = [run for run in runs if (of_term == run).any()]
            if len(runs) <= k or runs[k] not in kept:
                return None  # the model was fitted again to all rows
            own_terms.append((len(kept), _only(ensemble, np.flatnonzero(of_term == runs[k]))))
        parts.append(_Part(rows, own_terms))
    return parts


def _is_constant(ensemble: Ensemble) -> NDArray[np.bool_]:
    """(T,) whether a term is an offset, or class frequencies: it is no part's own, and counts for all."""
    found = np.zeros(len(ensemble), dtype=bool)
    for positions, trees in ensemble.of_kind(Trees):
        found[positions[trees.depths == 0]] = True
    return found


def _fit_of_term(found: Any, n_terms: int) -> Ints | None:
    """(T,) number of the fit that each term is of, −1 for others; None if a fit has no rounds."""
    # A loaded history is one table, in which each fit begins with round 0.
    is_first = np.array([record.index == 0 for record in found.history], dtype=bool)
    runs, terms = np.cumsum(is_first) - 1, np.asarray(found.history.terms, dtype=np.int64)
    if np.count_nonzero(is_first) != len(found.runs):
        return None
    of_term = np.full(n_terms, -1)
    of_term[terms[terms >= 0]] = runs[terms >= 0]
    return of_term


def _only(ensemble: Ensemble, positions: Ints) -> Ensemble:
    """The terms at some positions."""
    chosen = [
        group.terms.take(places)
        for group in ensemble.groups
        if len(places := np.flatnonzero(np.isin(group.positions, positions)))
    ]
    return Ensemble.of(chosen, ensemble.n_classes)


class _Shuffling:
    """Scores of held-out rows, as they are and with one feature shuffled."""

    def __init__(self, clf: Any, X: Values, y: Any, parts: list[_Part]) -> None:
        self.clf, self.model, self.n_threads = clf, clf.model_, threads_of(clf.n_jobs)
        rows = np.unique(np.concatenate([part.rows for part in parts]))
        keys = hash_rows(X[rows], 3)
        limit = np.sort(keys)[min(MOST_ROWS, len(rows)) - 1]
        self.parts = [
            part._replace(rows=part.rows[hash_rows(X[part.rows], 3) <= limit]) for part in parts
        ]
        self.rows = np.concatenate([part.rows for part in self.parts])
        self.X = np.ascontiguousarray(X[self.rows], dtype=np.float64)
        self.true = self._targets(y[self.rows])
        self.is_known = np.ones(len(self.rows), dtype=bool)
        if is_classifier(clf):
            self.is_known = self.true >= 0
        self.plain = self._losses(self.X)
        self.exchanges = self._exchanges()

    def _targets(self, y: Any) -> Any:
        if not is_classifier(self.clf):
            return y.astype(np.float64)
        names = ClassNames(self.model.classes)
        return np.array([-1 if (k := names.find(label)) is None else k for label in y.tolist()])

    def found(self) -> list[HeldOutImportance]:
        """The features, those that help most first."""
        found = [self._of(f) for f in self._features()]
        return sorted(found, key=lambda each: (not each.helps, -each.rise))

    def _features(self) -> list[int]:
        use = importances(self.model.ensemble, self.model.n_features)
        order = np.argsort(-use, kind="stable")[:MOST_FEATURES]
        return [int(f) for f in order if len(np.unique(self.X[:, f])) > 1]

    def _of(self, feature: int) -> HeldOutImportance:
        rises = np.zeros(len(self.X))
        for order, other in self.exchanges:
            shuffled = self.X.copy()
            shuffled[order, feature] = self.X[other, feature]
            rises += (self._losses(shuffled) - self.plain) / REPEATS
        # A row that several fits have left out is one row.
        _, place = np.unique(self.rows[self.is_known], return_inverse=True)
        known = np.bincount(place, rises[self.is_known]) / np.bincount(place)
        error = float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else np.inf
        return HeldOutImportance(self.model.shown_names[feature], float(known.mean()), error)

    def _exchanges(self) -> list[tuple[Ints, Ints]]:
        """Rows, and the rows of the same part whose values they get; the order depends on values only.

        Values of other parts would not be fair: a fit may have learned names by heart that occur once, and
        would be misled by them, though it has no use for the new names of its own held-out rows.
        """
        found = []
        ends = np.cumsum([0, *(len(part.rows) for part in self.parts)])
        for repeat in range(REPEATS):
            keys = hash_rows(self.X, 11 + repeat)
            orders = [a + np.argsort(keys[a:b], kind="stable") for a, b in pairwise(ends.tolist())]
            given = [np.roll(order, 1) for order in orders]
            found.append((np.concatenate(orders), np.concatenate(given)))
        return found

    def _losses(self, X: Floats) -> BySample:
        scores = self._scores(X)
        if not is_classifier(self.clf):
            predicted = self.model.baseline + scores[:, 0]
            return np.asarray((predicted - self.true) ** 2 / (np.var(self.true) or 1.0))
        own = self.model.posterior(scores)[np.arange(len(X)), np.maximum(self.true, 0)]
        return np.asarray(-np.log(np.maximum(own, LEAST_PROBABILITY)))

    def _scores(self, X: Floats) -> Scores:
        scores = np.zeros((len(X), self.model.ensemble.n_classes))
        first = 0
        for part in self.parts:
            last = first + len(part.rows)
            queries = Queries(np.ascontiguousarray(X[first:last]))
            for factor, ensemble in part.terms:
                own = np.zeros((last - first, ensemble.n_classes))
                ensemble.add_scores(queries, own, 0, len(ensemble), self.n_threads)
                scores[first:last] += factor * own
            first = last
        return scores
