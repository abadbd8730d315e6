"""Any classifier of scikit-learn's kind as a weak learner."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from rebelboost.base.arrays import BySample, Indices, Outputs, Values
from rebelboost.learners.base import Candidate, Focus, Prepared, solved_response
from rebelboost.learners.binarize import binarize
from rebelboost.losses.smooth import AnyWeights
from rebelboost.model.trees import Trees
from rebelboost.model.wrapped import SIGNS, Responder, Wrapped


@dataclass(frozen=True)
class Binary:
    """A classifier of two classes as a weak learner: fitted to binarised classes in every round.

    Samples get a label sign(v_n) and a weight |v_n| by `binarize` [LOCAL, Sec. 4]; the response is
    +1 or −1 as a clone of the estimator, fitted to them, predicts. Where the constant response
    has the lower loss, it is taken instead.

    The estimator sees the table as numbers. Missing values are NaN and categories their codes: if it
    can do nothing with those, give a pipeline that imputes or encodes first.

    Parameters
    ----------
    estimator
        A classifier with scikit-learn's `fit` and `predict`, unfitted.
    by
        "weight": the estimator's `fit` takes the weights. "resampling": it is fitted to as many
        samples, drawn with replacement by weight [ADA 3.4.1]. "auto": by weight where it can.
    """

    estimator: Any
    by: Literal["auto", "weight", "resampling"] = "auto"

    rounds = 100
    shrinkage = 1.0
    categorical = "from_dtype"

    def __post_init__(self) -> None:
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            raise TypeError(
                f"Binary takes a classifier such as LogisticRegression(), not {self.estimator!r}"
            )
        if not is_classifier(self.estimator):
            raise TypeError(
                f"Binary takes a classifier, but {type(self.estimator).__name__} is none: "
                "its predictions are not classes"
            )
        if self.by not in {"auto", "weight", "resampling"}:
            raise ValueError(f"by is {self.by!r}: give 'auto' or 'weight' or 'resampling'")
        if self.by == "weight" and not self._takes_weights():
            raise ValueError(
                f"the fit of {type(self.estimator).__name__} takes no sample_weight: "
                "give by='resampling'"
            )

    def _takes_weights(self) -> bool:
        return bool(has_fit_parameter(self.estimator, "sample_weight"))

    def prepare(self, samples: Any, n_threads: int = 1) -> "PreparedBinary":
        """Keep the samples: the estimator sees their values as they are."""
        del n_threads
        return PreparedBinary(samples, self)

    def fit(
        self, X: Values, labels: NDArray[Any], weight: BySample, rng: np.random.Generator
    ) -> Any:
        """Fit a clone of the estimator to labels ±1."""
        estimator = clone(self.estimator)
        _seed(estimator, rng)
        if self.by == "weight" or (self.by == "auto" and self._takes_weights()):
            return estimator.fit(X, labels, sample_weight=weight)
        drawn = _draw(weight, labels, rng)
        return estimator.fit(X[drawn], labels[drawn])


@dataclass
class PreparedBinary(Prepared):
    """Fits a classifier in every round."""

    options: Binary

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Fit a clone of the estimator to the binarised classes."""
        nowhere = np.zeros(self.n_samples, dtype=np.uint16)
        best, least = solved_response(nowhere, SIGNS[:1], weights, _constant)
        found = self._fit(binarize(weights), focus, rng)
        if found is not None:
            regions = found.regions(self.samples.X)
            candidate, loss = solved_response(regions, SIGNS, weights, partial(Wrapped.one, found))
            best = candidate if loss < least else best
        return best

    def _fit(self, v: BySample, focus: Focus, rng: np.random.Generator) -> Responder | None:
        """Learn the sign of v from the samples where it has one; None where it is the same for all."""
        samples = focus.samples[v[focus.samples] != 0]
        labels = np.where(v[samples] > 0, 1, -1)
        weight = np.abs(v[samples])
        if len(np.unique(labels)) < 2:
            return None
        weight *= len(weight) / weight.sum()  # a mean of 1, as estimators expect of weights
        features = np.flatnonzero(focus.allowed).astype(np.int32)
        seen = Responder(None, features, self.n_features).chosen(self.samples.X[samples])
        return Responder(self.options.fit(seen, labels, weight, rng), features, self.n_features)


def _constant(outputs: Outputs) -> Trees:
    """A tree that tests nothing."""
    none = np.empty(0, dtype=np.int32)
    tables = none, np.empty((0, 256), dtype=np.uint8)
    return Trees.one(none, np.empty(0), np.empty(0, dtype=np.uint8), tables, SIGNS[:1], outputs)


def _draw(weight: BySample, labels: NDArray[Any], rng: np.random.Generator) -> Indices:
    """Draw samples by weight; the heaviest of a label that is not drawn comes in addition."""
    drawn = rng.choice(len(weight), size=len(weight), p=weight / weight.sum())
    for label in (-1, 1):
        if not np.any(labels[drawn] == label):
            drawn = np.append(drawn, np.argmax(np.where(labels == label, weight, -1.0)))
    return drawn.astype(np.int32)


def _seed(estimator: Any, rng: np.random.Generator) -> None:
    """Give a seed to all of the estimator that would draw its own: two fits give the same model."""
    unset = {
        name: int(rng.integers(2**31 - 1))
        for name, value in sorted(estimator.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    estimator.set_params(**unset)
