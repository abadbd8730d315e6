"""Any classifier of scikit-learn's kind as a weak learner."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from rebelboost.base.arrays import BySample, Outputs, Regions, Samples
from rebelboost.data.training_set import TrainingSet
from rebelboost.learners.base import Candidate, Focus
from rebelboost.learners.binarize import binarize
from rebelboost.learners.growing import join
from rebelboost.losses.smooth import AnyWeights
from rebelboost.model.trees import GrownTree, Hypothesis
from rebelboost.model.wrapped import SIGNS, Wrapped


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
    bins = 2  # it looks at values, not at bins
    binning = "even"
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

    def propose(
        self, data: TrainingSet, weights: AnyWeights, focus: Focus, rng: np.random.Generator
    ) -> Candidate:
        """Fit a clone of the estimator to the binarised classes."""
        nowhere = np.zeros(data.n_samples, dtype=np.uint16)
        constant = GrownTree.from_bins(join(()), data.binner, SIGNS[:1])
        best, least = _solve(constant, nowhere, weights)
        found = self._fit(data, binarize(weights), focus, rng)
        if found is not None and data.values is not None:
            candidate, loss = _solve(found, found.regions(data.values), weights)
            best = candidate if loss < least else best
        return best

    def _fit(
        self, data: TrainingSet, v: BySample, focus: Focus, rng: np.random.Generator
    ) -> "Wrapped | None":
        """Learn the sign of v from the samples where it has one; None where it is the same for all."""
        samples = focus.samples[v[focus.samples] != 0]
        labels = np.where(v[samples] > 0, 1, -1)
        weight = np.abs(v[samples])
        if data.values is None or len(np.unique(labels)) < 2:
            return None
        weight *= len(weight) / weight.sum()  # a mean of 1, as estimators expect of weights
        features = np.flatnonzero(focus.allowed).astype(np.int32)
        wrapped = Wrapped(clone(self.estimator), features, data.n_features)
        _seed(wrapped.estimator, rng)
        if self.by == "weight" or (self.by == "auto" and self._takes_weights()):
            X = wrapped.chosen(data.values[samples])
            wrapped.estimator.fit(X, labels, sample_weight=weight)
        else:
            drawn = _draw(weight, labels, rng)
            X = wrapped.chosen(data.values[samples[drawn]])
            wrapped.estimator.fit(X, labels[drawn])
        return wrapped


def _solve(
    hypothesis: Hypothesis, regions: Regions, weights: AnyWeights
) -> tuple[Candidate, float]:
    """The best output of a ±1 response, and the loss with it."""
    signs = SIGNS[: hypothesis.n_regions]
    plus, minus = weights.sums(regions, len(signs))
    output = weights.signed_output(regions, signs, plus, minus)
    outputs: Outputs = signs[:, np.newaxis] * output
    loss = weights.loss_after(regions, plus, minus, outputs)
    return Candidate(hypothesis, regions, plus, minus, outputs), loss


def _draw(weight: BySample, labels: NDArray[Any], rng: np.random.Generator) -> Samples:
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
