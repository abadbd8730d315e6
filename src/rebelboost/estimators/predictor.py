"""Predictors: fitted models for one sample at a time, without the checks of the estimators."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import ByClass, BySample, Floats, Scores
from rebelboost.costs.decision import cheapest, expected_costs, least_risk
from rebelboost.costs.matrix import is_uniform
from rebelboost.costs.posterior import UNIFORM_STEP
from rebelboost.estimators.raw_rows import are_records
from rebelboost.export.records import RecordReader
from rebelboost.model.fitted import FittedClassifier, FittedRegressor, FittedTerms
from rebelboost.model.single import SingleScores


class Predictor:
    """A fitted model that predicts fast for single samples; what it says equals the estimator's, bit for bit.

    It never changes, so threads may share it, and it can be pickled. Later changes of the estimator do not
    reach it.

    A sample is an array of d numbers: NaN is a missing value, and a category is its code, its position among
    the sorted training categories. Values are not checked: an infinite one counts as a large number. A sample
    may also be a dict of column and cell, which is read as the estimator reads it. An array of shape (N, d)
    and a list of dicts are N samples.
    """

    __slots__ = ("_model", "_single", "n_features_in_", "reader")

    def __init__(self, model: FittedTerms, reader: RecordReader) -> None:
        self._model, self.reader = model, reader
        self._single = SingleScores(model.ensemble)
        self.n_features_in_ = model.n_features

    def __reduce__(self) -> Any:
        return type(self), (self._model, self.reader)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"

    def encode(self, X: Any) -> Floats:
        """The numbers of a sample, (d,), or of several, (N, d)."""
        if isinstance(X, Mapping):
            return self.reader([X])[0]
        if are_records(X):
            return self.reader(X)
        values: Floats = np.ascontiguousarray(X, dtype=np.float64)
        if values.shape[-1] != self.n_features_in_ or values.ndim not in (1, 2):
            raise ValueError(
                f"a sample has {self.n_features_in_} features, but the shape given is {values.shape}"
            )
        return values

    def _sample(self, X: Any) -> Floats:
        """The same, at once if there is nothing to convert."""
        if type(X) is np.ndarray and X.dtype == np.float64 and X.shape == (self.n_features_in_,):
            return X if X.flags.c_contiguous else X.copy()
        return self.encode(X)

    def decision_function(self, X: Any) -> Scores:
        """Scores H(x), (K,) or (N, K): one for each class, also of two; in a regression, one."""
        x = self._sample(X)
        return self._single(x) if x.ndim == 1 else self._model.ensemble.scores(x)


class Judged(NamedTuple):
    """What is said of a sample."""

    label: Any
    probabilities: ByClass
    expected_costs: ByClass


class ClassPredictor(Predictor):
    """The predictor of a classifier; `RebelClassifier.predictor` makes one."""

    __slots__ = ("_by_score", "_classes", "_costs", "_decoder", "_log_ratios", "classes_")

    _model: FittedClassifier

    def __init__(self, model: FittedClassifier, reader: RecordReader) -> None:
        super().__init__(model, reader)
        decoder, rule = model.decoder, model.rule
        self.classes_ = model.classes
        # A list: reading one label of an array takes longer.
        self._classes = list(model.classes)
        is_plain = decoder.is_uniform and decoder.shift is None and len(model.classes) > 1
        self._log_ratios = decoder.kind.log_ratios if is_plain else None
        self._decoder = decoder
        own_costs = model.by_sample or rule.reject_cost is not None
        self._by_score = not own_costs and (
            not rule.by_cost or (is_plain and is_uniform(model.costs))
        )
        self._costs = None if own_costs else model.costs

    def predict(self, X: Any) -> Any:
        """The label of a sample, or (N,) labels."""
        x = self._sample(X)
        if x.ndim != 1:
            return self._labels(x, self._model.ensemble.scores(x))
        scores = self._single(x)
        if self._by_score:
            return self._classes[scores.argmax()]
        if self._costs is None:
            return self._labels(x[np.newaxis], scores[np.newaxis])[0]
        posterior = self._posterior(scores)[np.newaxis]
        return self._classes[least_risk(scores[np.newaxis], posterior, self._costs)[0]]

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (K,) or (N, K)."""
        x = self._sample(X)
        if x.ndim == 1:
            return self._posterior(self._single(x))
        return self._model.posterior(self._model.ensemble.scores(x))

    def judge(self, x: BySample) -> Judged:
        """The label of a (d,) sample, its probabilities and its expected costs, with nothing computed twice."""
        scores = self._single(x)
        posterior = self._posterior(scores)
        costs = self._model.costs_of(x[np.newaxis]) if self._costs is None else self._costs
        risks = expected_costs(posterior[np.newaxis], costs)
        if self._by_score:
            label = self._classes[scores.argmax()]
        elif self._costs is None:
            label = self._model.labels(scores[np.newaxis], costs)[0]
        else:
            label = self._classes[cheapest(risks, scores[np.newaxis])[0]]
        return Judged(label, posterior, risks[0])

    def expected_cost(self, X: Any) -> Floats:
        """Expected cost of each decision, (K,) or (N, K)."""
        x = self._sample(X)
        rows = np.atleast_2d(x)
        scores = self._single(x)[np.newaxis] if x.ndim == 1 else self._model.ensemble.scores(x)
        found = self._model.expected_cost(scores, self._model.costs_of(rows))
        return found[0] if x.ndim == 1 else found

    def _labels(self, x: Floats, scores: Scores) -> NDArray[Any]:
        return self._model.labels(scores, self._model.costs_of(x))

    def _posterior(self, scores: ByClass) -> ByClass:
        if self._log_ratios is None:
            return self._model.posterior(scores[np.newaxis])[0]
        ratios = self._log_ratios(self._decoder.temperature * scores)[np.newaxis]
        posterior = np.empty_like(ratios)
        kernels.active.uniform_posteriors(ratios, UNIFORM_STEP, posterior, 1)
        return posterior[0]


class NumberPredictor(Predictor):
    """The predictor of a regressor; `RebelRegressor.predictor` makes one."""

    __slots__ = ()

    _model: FittedRegressor

    def predict(self, X: Any) -> float | BySample:
        """The prediction for a sample, or (N,) predictions."""
        x = self._sample(X)
        if x.ndim == 1:
            return float(self._model.baseline + self._single(x)[0])
        return self._model.predict(x)
