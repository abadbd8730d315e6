"""An estimator's half that decides: scores, probabilities, expected costs, predictions."""

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rebelboost.base.arrays import ByClass, Floats, Labels, Scores
from rebelboost.costs.decision import expected_costs, least_risk
from rebelboost.costs.matrix import cost_matrix, is_uniform
from rebelboost.costs.posterior import Decoder
from rebelboost.estimators.fitting import threads_of
from rebelboost.estimators.inputs import TableInput
from rebelboost.model.ensemble import Ensemble
from rebelboost.selection.blend import CrossFit
from rebelboost.selection.race import Selection


class Decides(TableInput):
    """Part of `RebelClassifier`: everything that follows from its terms, its decoder and its costs."""

    learner: Any
    classes_: NDArray[Any]
    ensemble_: Ensemble
    decoder_: Decoder
    cross_fit_: CrossFit | None
    costs: Any
    costs_: Floats
    class_weight_: ByClass
    subcosts_: str
    decision: str
    reject_cost: float | None
    reject_label: Any
    n_jobs: int | None

    def _n_threads(self) -> int:
        return threads_of(self.n_jobs)

    @property
    def selection_(self) -> Selection | None:
        """What learner="auto" tried, how each did on left-out samples, and the shares of the blend."""
        check_is_fitted(self)
        if self.learner != "auto" or self.cross_fit_ is None:
            return None
        found = self.cross_fit_
        return Selection(found.standings, found.cost, percent=is_uniform(self.costs_))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores H(x), (N, K); with two classes the lead of the second one, (N,)."""
        return _lead(self._scores(X))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (N, K), decoded from the scores; see `cross_fit`."""
        scores = self._scores(X)
        return self._posterior(scores)

    def expected_cost(self, X: Any) -> Floats:
        """What each decision is expected to cost, (N, K)."""
        posterior = self.predict_proba(X)
        return expected_costs(posterior, self.costs_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The decision for each sample."""
        scores = self._scores(X)
        return self._labels(scores)

    def with_costs(self, costs: Any) -> Self:
        """The same model for other costs of decisions: no refit, the posterior stays."""
        check_is_fitted(self)
        if self.decision == "argmax":
            raise ValueError('decision="argmax" knows no costs: with_costs needs "min_risk"')
        self._posterior(np.zeros((1, len(self.classes_))))  # refuses, where there is none
        other = copy.copy(self)
        other.costs = costs
        other.costs_ = cost_matrix(costs, list(self.classes_), self.class_weight_)
        return other

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Scores after each term."""
        yield from map(_lead, self._staged_scores(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Decisions after each term."""
        yield from map(self._labels, self._staged_scores(X))

    def _labels(self, scores: Scores) -> NDArray[Any]:
        decided: NDArray[Any] = self.classes_[self._decide(scores)]
        if self.reject_cost is None:
            return decided
        least = expected_costs(self._posterior(scores), self.costs_).min(axis=1)
        return _replace(decided, least > self.reject_cost, self.reject_label)

    def _decide(self, scores: Scores) -> Labels:
        plain = is_uniform(self.decoder_.costs) and is_uniform(self.costs_)
        if self.decision == "argmax" or plain or not self._decodes():
            return np.argmax(scores, axis=1).astype(np.int32)
        return least_risk(scores, self._posterior(scores), self.costs_)

    def _decodes(self) -> bool:
        """Whether there is a posterior: REBEL's subcosts have none, but where costs are uniform."""
        return self.subcosts_ == "thesis" or is_uniform(self.decoder_.costs)

    def _posterior(self, scores: Scores) -> Floats:
        if not self._decodes():
            raise ValueError(
                'scores trained with subcosts="rebel" on unequal costs give no probabilities: '
                'use subcosts="thesis", or training="neutral"'
            )
        return self.decoder_.posterior(scores)

    def _scores(self, X: Any) -> Scores:
        check_is_fitted(self)
        return self.ensemble_.scores(self._encode(X), self._n_threads())

    def _staged_scores(self, X: Any) -> Iterator[Scores]:
        check_is_fitted(self)
        yield from self.ensemble_.staged_scores(self._encode(X), self._n_threads())


def _lead(scores: Scores) -> NDArray[np.float64]:
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def _replace(decided: NDArray[Any], where: NDArray[np.bool_], label: Any) -> NDArray[Any]:
    """Put a label of any kind among the classes: as one type where they have one, else as objects."""
    same_kind = np.asarray(label).dtype.kind == decided.dtype.kind
    wide = np.result_type(decided, np.asarray(label)) if same_kind else np.dtype(object)
    decided = decided.astype(wide)
    decided[where] = label
    return decided
