"""Wrap a scikit-learn classifier as a weak learner."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Indices, Values
from rebelboost.base.hashing import n_distinct_values
from rebelboost.data.equal_samples import merge_equal
from rebelboost.learners.base import (
    AnyWeights,
    Candidate,
    Focus,
    Prepared,
    merged_rows,
    solved_response,
)
from rebelboost.learners.binarize import binarize
from rebelboost.learners.options import Parameters, check_number
from rebelboost.model.trees import constant_response
from rebelboost.model.wrapped import SIGNS, Responder, Wrapped
from rebelboost.rows.base import Rows, given_samples


@dataclass(frozen=True)
class Binary(Parameters):
    """Wrap a binary classifier as a weak learner.

    In each round, `binarize` gives every sample a label sign(v_n) and a weight |v_n| [LOCAL, Sec. 4]. A
    clone of the estimator is fitted to them, and its predictions, +1 or −1, are the response. If a
    constant response has a lower loss, it is used instead. Equal samples are merged into one with the
    sum of their weights.

    The estimator receives numbers: NaN for missing values, integer codes for categories. If it does not
    support them, wrap it in a pipeline that imputes or encodes first.

    Parameters
    ----------
    estimator : estimator
        An unfitted classifier with scikit-learn's `fit` and `predict`.
    by : {"auto", "weight", "resampling"}, default="auto"
        How the estimator takes the weights. "weight" passes them to `fit`. "resampling" draws samples,
        with replacement, in proportion to the weights [ADA 3.4.1]. "auto" is "weight" if `fit` takes
        `sample_weight`, else "resampling".
    n_drawn : int, default=None
        Number of samples that "resampling" draws in each round, m′ of [ADA 3.4.1]. By default as many as
        there are distinct ones. Fewer make a round faster.
    """

    estimator: Any
    by: Literal["auto", "weight", "resampling"] = "auto"
    n_drawn: int | None = None

    rounds = 100
    shrinkage = 1.0
    categorical = "from_dtype"

    def __post_init__(self) -> None:
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            raise TypeError(
                f"Binary takes a classifier such as LogisticRegression(), not {self.estimator!r}"
            )
        from sklearn.base import is_classifier

        if not is_classifier(self.estimator):
            raise TypeError(
                f"Binary takes a classifier, but {type(self.estimator).__name__} is not one: "
                "its predictions are not classes"
            )
        if self.by not in {"auto", "weight", "resampling"}:
            raise ValueError(f"by is {self.by!r}: give 'auto' or 'weight' or 'resampling'")
        if self.by == "weight" and not self._takes_weights():
            raise ValueError(
                f"fit of {type(self.estimator).__name__} does not take sample_weight: "
                "use by='resampling'"
            )

        if self.n_drawn is not None:
            check_number("n_drawn", self.n_drawn, 2, 2**31)
            if self._weighs():
                raise ValueError(
                    f"n_drawn is {self.n_drawn}, but nothing is drawn: "
                    f"{type(self.estimator).__name__} takes the weights; use by='resampling'"
                )

    def _takes_weights(self) -> bool:
        from sklearn.utils.validation import has_fit_parameter

        return bool(has_fit_parameter(self.estimator, "sample_weight"))

    def _weighs(self) -> bool:
        return self.by == "weight" or (self.by == "auto" and self._takes_weights())

    @property
    def takes_missing(self) -> bool:
        """Whether the estimator says that it takes missing values (scikit-learn's tag `allow_nan`)."""
        from sklearn.utils import get_tags

        return bool(get_tags(self.estimator).input_tags.allow_nan)

    def prepare(self, rows: Rows, n_threads: int = 1) -> "PreparedBinary":
        """Merge equal samples: binarization depends on how weight is divided among samples."""
        merged, place = merge_equal(given_samples(rows))
        return PreparedBinary(merged_rows(rows, merged, place, n_threads), self)

    def fit(
        self, X: Values, labels: NDArray[Any], weight: BySample, rng: np.random.Generator
    ) -> Any:
        """Fit a clone of the estimator to labels ±1."""
        from sklearn.base import clone

        estimator = clone(self.estimator)
        _seed(estimator, rng)
        if self._weighs():
            return estimator.fit(X, labels, sample_weight=weight)
        drawn = _draw(weight, labels, self.n_drawn or len(weight), rng)
        return estimator.fit(X[drawn], labels[drawn])


@dataclass
class PreparedBinary(Prepared):
    """Fits a classifier in every round."""

    options: Binary

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Fit a clone of the estimator to the binarized classes."""
        nowhere = np.zeros(self.n_samples, dtype=np.uint16)
        best, least = solved_response(nowhere, SIGNS[:1], weights, constant_response)
        found = self._fit(binarize(weights), focus, rng)
        if found is not None:
            regions = found.regions(self.samples.X)
            candidate, loss = solved_response(regions, SIGNS, weights, partial(Wrapped.one, found))
            best = candidate if loss < least else best
        return best

    def _fit(self, v: BySample, focus: Focus, rng: np.random.Generator) -> Responder | None:
        """Fit sign(v) on the samples with v ≠ 0; None if all signs are equal."""
        samples = focus.samples[v[focus.samples] != 0]
        labels = np.where(v[samples] > 0, 1, -1)
        weight = np.abs(v[samples])
        if n_distinct_values(labels) < 2:
            return None
        weight *= len(weight) / weight.sum()  # estimators expect weights with a mean of 1
        features = np.flatnonzero(focus.allowed).astype(np.int32)
        seen = Responder(None, features, self.n_features).chosen(self.samples.X[samples])
        return Responder(self.options.fit(seen, labels, weight, rng), features, self.n_features)


def _draw(
    weight: BySample, labels: NDArray[Any], n_drawn: int, rng: np.random.Generator
) -> Indices:
    """Draw samples by weight; if a label is missing, add its heaviest sample."""
    drawn = rng.choice(len(weight), size=n_drawn, p=weight / weight.sum())
    for label in (-1, 1):
        if not np.any(labels[drawn] == label):
            drawn = np.append(drawn, np.argmax(np.where(labels == label, weight, -1.0)))
    return drawn.astype(np.int32)


def _seed(estimator: Any, rng: np.random.Generator) -> None:
    """Seed every random_state of the estimator that is None, so that fits are reproducible."""
    unset = {
        name: int(rng.integers(2**31 - 1))
        for name, value in sorted(estimator.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    estimator.set_params(**unset)
